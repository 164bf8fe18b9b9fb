/**
 * What reads a mail before its reader does and runs no scripts: it follows every link of a page and sends every form with
 * what the form holds.
 */
import type { TestApp } from '../support/app.ts';

interface Found {
  readonly links: readonly string[];
  readonly forms: readonly FoundForm[];
}

interface FoundForm {
  readonly method: string;
  readonly action: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

export interface Scanner {
  /** How many forms were sent. */
  readonly sent: () => number;
  scan(path: string): Promise<void>;
}

/** @param typed what it types into fields for passphrases; with `null` it leaves them as they are */
export function createScanner(app: Pick<TestApp, 'fetch'>, typed: string | null): Scanner {
  const seen = new Set<string>();
  let sent = 0;

  async function sendForms(forms: readonly FoundForm[]): Promise<void> {
    for (const { method, action, fields } of forms) {
      const body = new URLSearchParams(fields.map(([name, value]) => [name, value])).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      await app.fetch(action, method === 'post' ? { method: 'POST', body, headers } : {});
      sent += 1;
    }
  }

  return {
    sent: () => sent,
    async scan(path) {
      const { links, forms } = await read(await app.fetch(path), path, typed);
      await sendForms(forms);
      for (const link of links) {
        if (seen.has(link) || !link.startsWith('/')) continue;
        seen.add(link);
        const next = await read(await app.fetch(link), link, typed);
        await sendForms(next.forms);
      }
    },
  };
}

async function read(page: Response, path: string, typed: string | null): Promise<Found> {
  const links: string[] = [];
  const forms: { method: string; action: string; fields: [string, string][] }[] = [];
  const add = (name: string | null, value: string) => {
    if (name !== null) forms.at(-1)?.fields.push([name, value]);
  };
  const rewriter = new HTMLRewriter()
    .on('a[href]', { element: (a) => void links.push((a.getAttribute('href') ?? '').split('#')[0] || path) })
    .on('form', {
      element: (form) =>
        void forms.push({
          method: form.getAttribute('method') ?? 'get',
          action: form.getAttribute('action') ?? path,
          fields: [],
        }),
    })
    .on('form input, form button', {
      element(control) {
        const [name, type] = [control.getAttribute('name'), control.getAttribute('type') ?? 'text'];
        if (['checkbox', 'radio'].includes(type) && !control.hasAttribute('checked')) return;
        const held = control.getAttribute('value') ?? '';
        add(name, type === 'password' && typed !== null ? typed : held);
      },
    });
  await rewriter.transform(page).text();
  return { links, forms };
}
