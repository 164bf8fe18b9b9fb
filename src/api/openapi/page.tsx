/**
 * The API page, rendered on the server from the operations: no script, no request, one style sheet allowed by its hash (P19).
 *
 * Its colours are those of the pages for people (`web/style/base.css`, which this folder may not read; a test compares them). The first
 * example of an operation is the smallest request that works when it is pasted; whatever an example holds, the shell reads the
 * command back unchanged.
 */
import { createHash } from 'node:crypto';
import { raw } from 'hono/html';
import type { FC } from 'hono/jsx';
import type { ApiSurface } from '../../http/api.ts';
import { SharedText } from '../../http/compression.ts';
import { newRequestId, pageResponse } from '../../http/headers.ts';
import type { Operation } from '../../http/operation.ts';
import { curlExamples } from './calls.ts';
import {
  type ApiInfo,
  description,
  parametersOf,
  proseOf,
  tagOf,
  templateOf,
  title,
  versionOf,
} from './document.ts';
import { componentsOf, descriptionOf, exampleOf, type Field, fieldsOf } from './schema.ts';

/**
 * The style sheet of the API page, inline and allowed by its hash. Its colours are those of the pages for people
 * (`web/style/base.css`, which this folder may not read; a test compares them), with a contrast of 4.5 to 1 or more.
 */
export const style = `
:root{color-scheme:light dark;--bg:#f6f3ec;--panel:#fffdf9;--ink:#1d2624;--soft:#535f5b;--line:#e0dacd;--accent:#1b5a4b;--get:#1a5793;--post:#1b5a4b;--code:#efebe1;--serif:ui-serif,"Iowan Old Style",Palatino,"Palatino Linotype",Georgia,"Noto Serif",serif}
@media (prefers-color-scheme:dark){:root{--bg:#121817;--panel:#1a2221;--ink:#e8edea;--soft:#a6b3ae;--line:#2d3836;--accent:#83d3bb;--get:#92c1f2;--post:#83d3bb;--code:#0e1312}}
@media (prefers-contrast:more){:root{--soft:var(--ink);--line:var(--ink)}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--bg);color:var(--ink);font:1rem/1.6 system-ui,sans-serif}
body::before{content:"";display:block;height:.1875rem;background:linear-gradient(90deg,var(--accent),#d9a441,var(--accent))}
a{color:var(--accent)}
a:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
.home{display:inline-flex;align-items:center;min-height:2.75rem;color:var(--ink);font:600 1.25rem/1.2 var(--serif);text-decoration:none}
.home:hover{text-decoration:underline}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:1rem;background:var(--panel);padding:.5rem 1rem}
.page{display:grid;grid-template-columns:minmax(0,1fr);max-width:76rem;margin:0 auto;padding:1rem}
header{padding:1.5rem 0 .5rem}
h1{font:500 clamp(1.875rem,1.5rem + 2vw,2.75rem)/1.15 var(--serif);letter-spacing:-.012em;margin:.5rem 0 .25rem}
h2{font:500 1.625rem/1.3 var(--serif);margin:2.5rem 0 .75rem}
main section:first-child h2{margin-top:1rem}
h3{font-size:1.05rem;margin:0}
h4{font-size:.95rem;margin:1.25rem 0 .4rem}
p{margin:.5rem 0;max-width:46rem}
nav{border:1px solid var(--line);border-radius:.875rem;background:var(--panel);padding:.75rem 1rem}
nav p{font-weight:600;margin:.75rem 0 .2rem;color:var(--soft)}
nav ul{list-style:none;margin:0;padding:0}
nav li{padding:.15rem 0}
nav a{text-decoration:none}
nav a:hover{text-decoration:underline}
article{border:1px solid var(--line);border-radius:.875rem;background:var(--panel);padding:1rem 1.1rem;margin:0 0 1rem}
.line{font-family:ui-monospace,monospace;font-size:.92rem;overflow-wrap:anywhere;margin:.35rem 0}
.method{font-weight:700;color:var(--post)}
.get{color:var(--get)}
.soft{color:var(--soft);font-size:.92rem}
code,pre{font-family:ui-monospace,monospace;font-size:.87rem}
code{background:var(--code);border-radius:4px;padding:.05rem .3rem;overflow-wrap:anywhere}
pre{background:var(--code);border:1px solid var(--line);border-radius:8px;padding:.75rem;margin:.4rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
pre code{background:none;padding:0}
dl{margin:.25rem 0}
dt{margin-top:.5rem;overflow-wrap:anywhere}
dd{margin:0 0 0 1rem;color:var(--soft)}
details{border-top:1px solid var(--line);padding:.4rem 0}
summary{cursor:pointer;overflow-wrap:anywhere}
.status{font-weight:700;margin-right:.4rem}
@media (min-width:60rem){.page{grid-template-columns:17rem minmax(0,1fr);column-gap:2.5rem}header{grid-column:1/-1}nav{position:sticky;top:1rem;align-self:start;max-height:calc(100vh - 2rem);overflow:auto}}
@media print{nav{display:none}}
`;

export const docsPath = '/api/docs';

const styleHash = createHash('sha256').update(style).digest('base64');

const docsContentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  // The empty icon, so that no browser asks for one.
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The page's answer; rendered at the first call. */
export function createDocsPage(
  surfaces: readonly ApiSurface[],
  info: ApiInfo,
): (request: Request) => Response {
  let page: SharedText | null = null;
  return (request) => {
    page ??= new SharedText(`<!doctype html>${String(<Page sections={sectionsOf(surfaces)} info={info} />)}`);
    const response = pageResponse(200, '', newRequestId());
    response.headers.set('content-security-policy', docsContentSecurityPolicy);
    return page.putInto(response, request);
  };
}

export interface Entry {
  readonly operation: Operation;
  /** With parameters in braces. */
  readonly path: string;
  /** Other ways to call the same, `GET /api/v2/receipt/{key}`; HEAD is left out, every GET answers it. */
  readonly aliases: readonly string[];
}

interface Section {
  readonly tag: string;
  readonly entries: readonly Entry[];
}

/** By version, the newest first, and tag. */
export function sectionsOf(surfaces: readonly ApiSurface[]): readonly Section[] {
  return surfaces.toReversed().flatMap((surface) => {
    const byTag = Map.groupBy(surface.operations, (operation) => tagOf(operation, versionOf(surface)));
    return Array.from(byTag, ([tag, operations]) => ({
      tag,
      entries: operations.map((operation) => entryOf(surface, operation)),
    }));
  });
}

function entryOf(surface: ApiSurface, operation: Operation): Entry {
  const aliases = (operation.aliases ?? []).map(
    ({ method, path }) => `${method} ${templateOf(surface, path)}`,
  );
  return { operation, path: templateOf(surface, operation.path), aliases };
}

const Page: FC<{ sections: readonly Section[]; info: ApiInfo }> = ({ sections, info }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{`${title} API`}</title>
      <link rel="icon" href="data:," />
      <style>{raw(style)}</style>
    </head>
    <body>
      <a class="skip" href="#operations">
        Skip to the operations
      </a>
      <div class="page">
        <Intro info={info} />
        <Contents sections={sections} />
        <main id="operations">
          {sections.map((section) => (
            <section aria-labelledby={anchorOf(section.tag)}>
              <h2 id={anchorOf(section.tag)}>{titleOf(section.tag)}</h2>
              {section.entries.map((entry) => (
                <OperationEntry entry={entry} baseUrl={info.baseUrl} />
              ))}
            </section>
          ))}
          <Records
            operations={sections.flatMap(({ entries }) => entries.map(({ operation }) => operation))}
          />
        </main>
      </div>
    </body>
  </html>
);

const Intro: FC<{ info: ApiInfo }> = ({ info }) => (
  <header>
    <a class="home" href="../">
      {title}
    </a>
    <h1>{`${title} API`}</h1>
    <p class="soft">
      Version {info.version}, at <code>{info.baseUrl}</code>.{' '}
      <a href="v2/openapi.json">OpenAPI 3.1 document</a>
    </p>
    {description.split('\n\n').map((paragraph) => (
      <p>{paragraph}</p>
    ))}
    <p>
      Accounts sign in with HTTP Basic: the e-mail address and an API token. Credentials that are sent must be
      right, also where none are needed.
    </p>
  </header>
);

const Contents: FC<{ sections: readonly Section[] }> = ({ sections }) => (
  <nav aria-label="Operations">
    {sections.map((section) => (
      <>
        <p>{titleOf(section.tag)}</p>
        <ul>
          {section.entries.map(({ operation }) => (
            <li>
              <a href={`#${anchorOf(operation.name)}`}>{operation.document.summary}</a>
            </li>
          ))}
        </ul>
      </>
    ))}
    <p>Reference</p>
    <ul>
      <li>
        <a href="#records">Records and answers</a>
      </li>
    </ul>
  </nav>
);

const OperationEntry: FC<{ entry: Entry; baseUrl: string }> = ({ entry, baseUrl }) => {
  const { operation, path, aliases } = entry;
  const { method } = operation;
  const prose = proseOf(operation);
  return (
    <article id={anchorOf(operation.name)}>
      <h3>{operation.document.summary}</h3>
      <p class="line">
        <span class={`method ${method.toLowerCase()}`}>{method}</span> {path}
      </p>
      {aliases.length > 0 && <p class="soft">Also {codeList(aliases)}</p>}
      <p class="soft">{whoMayCall(operation)}</p>
      {prose !== '' && prose.split('\n\n').map((paragraph) => <p>{withCode(paragraph)}</p>)}
      <Parameters operation={operation} />
      <Body operation={operation} />
      <h4>Example</h4>
      {curlExamples(operation, baseUrl + path).map((example) => (
        <pre>
          <code>{example}</code>
        </pre>
      ))}
      <Answers operation={operation} />
    </article>
  );
};

function whoMayCall({ access }: Operation): string {
  if (access === 'open') return 'For anyone; credentials are not looked at.';
  return access === 'anyone' ? 'For anyone, with or without an account.' : 'For accounts.';
}

const Parameters: FC<{ operation: Operation }> = ({ operation }) => {
  const places = Object.entries(parametersOf(operation.path, operation.document));
  if (places.length === 0) return null;
  return (
    <>
      <h4>Parameters</h4>
      <dl>
        {places.flatMap(([place, schema]) =>
          fieldsOf(schema).map((field) => (
            <>
              <dt>
                <code>{field.name}</code>{' '}
                <span class="soft">
                  {place}
                  {field.isRequired ? ', required' : ''}
                </span>
              </dt>
              <dd>{withCode(field.description ?? '')}</dd>
            </>
          )),
        )}
      </dl>
    </>
  );
};

const Body: FC<{ operation: Operation }> = ({ operation }) => {
  const { body } = operation.document;
  if (body === undefined) return null;
  return (
    <>
      <h4>Body{body.required ? '' : ', optional'}</h4>
      <p class="soft">{codeList(body.contentTypes)}</p>
      <Fields fields={fieldsOf(body.schema)} requiredWord="required" />
    </>
  );
};

const Fields: FC<{ fields: readonly Field[]; requiredWord: string }> = ({ fields, requiredWord }) => (
  <dl>
    {fields.map(({ name, type, isRequired, description: told }) => (
      <>
        <dt>
          <code>{name}</code>{' '}
          <span class="soft">
            {type}
            {isRequired ? `, ${requiredWord}` : ''}
          </span>
        </dt>
        {told !== null && <dd>{withCode(told)}</dd>}
      </>
    ))}
  </dl>
);

const Answers: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    <h4>Answers</h4>
    {Object.entries(operation.document.responses).map(([status, answer]) => (
      <details>
        <summary>
          <span class="status">{status}</span> {withCode(answer.description)}
        </summary>
        <pre>
          <code>{JSON.stringify(exampleOf(answer.schema), null, 2)}</code>
        </pre>
      </details>
    ))}
  </>
);

const Records: FC<{ operations: readonly Operation[] }> = ({ operations }) => (
  <section aria-labelledby="records">
    <h2 id="records">Records and answers</h2>
    {componentsOf(operations.flatMap(schemasOf)).map(([name, schema]) => {
      const told = descriptionOf(schema);
      return (
        <details>
          <summary>
            <code>{name}</code> {told !== null && withCode(told)}
          </summary>
          <Fields fields={fieldsOf(schema)} requiredWord="always" />
        </details>
      );
    })}
  </section>
);

function schemasOf({ document: { body, responses } }: Operation) {
  const answers = Object.values(responses).map(({ schema }) => schema);
  return body === undefined ? answers : [body.schema, ...answers];
}

function anchorOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

function titleOf(tag: string): string {
  return tag.replace(/^v(\d+) (.*)$/, '$2, version $1').replace(/^v(\d+)$/, 'Version $1');
}

function codeList(texts: readonly string[]) {
  return texts.map((text, index) => (
    <>
      {index > 0 && ', '}
      <code>{text}</code>
    </>
  ));
}

/** Text between backquotes is code. */
function withCode(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part));
}
