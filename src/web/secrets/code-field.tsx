/** Why a form to open or burn came back, and its field for a mailed code. */
import type { FC } from 'hono/jsx';
import { Field, TextInput } from '../kit/field.tsx';
import type { Form } from '../kit/form.ts';
import type { Frame } from '../kit/layout.tsx';
import type { CodeSent } from './cookies.ts';

export interface AskRefusal {
  readonly passphrase: string | null;
  readonly box: string | null;
  readonly notice: string | null;
  readonly code: string | null;
  /** Shown again if something else was wrong. */
  readonly typedCode?: string;
}

export const notRefused: AskRefusal = { passphrase: null, box: null, notice: null, code: null };

/** Returns six digits, which people copy with blanks and some keyboards write in another script; otherwise `null`. */
export function codeIn(form: Form): string | null {
  const inAscii = (digit: string) => String(digit.charCodeAt(0) % 16);
  const typed = form
    .text('code')
    .normalize('NFKC')
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, inAscii);
  const digits = typed.replace(/\D/g, '');
  return digits.length === 6 ? digits : null;
}

/** Isolates text, so that it cannot change the direction of the text around it. */
export const apart = (text: string) => `\u2068${text}\u2069`;

export const shownAddress = (obfuscated: string) => apart(obfuscated.replaceAll('*****', '•••'));

interface CodeFieldProps {
  readonly frame: Frame;
  /** `null` shows nothing. */
  readonly code: CodeSent | null;
  readonly link: string;
  readonly refusal?: AskRefusal;
}

export const CodeField: FC<CodeFieldProps> = ({ frame: { say }, code, link, refusal = notRefused }) => {
  if (code === null) return null;
  // The script fills in what is wrong with a code for an end-to-end secret.
  const texts = { name: 'code', label: say('secret.code'), wrong: refusal.code ?? '' };
  const ofCode = { class: 'code', inputmode: 'numeric', autocomplete: 'one-time-code', required: true };
  const { typedCode = '' } = refusal;
  const state = { autofocus: typedCode === '', 'aria-invalid': String(texts.wrong !== '') };
  return (
    <>
      <p class="arrival">
        {say('secret.codeSent', { address: shownAddress(code.to) })}
        <br />
        <a href={`${link}?again`} data-keeps-fragment>
          {say('secret.codeAgain')}
        </a>
      </p>
      <Field texts={texts}>
        <TextInput texts={texts} value={typedCode} attributes={{ ...ofCode, ...state }} />
      </Field>
    </>
  );
};
