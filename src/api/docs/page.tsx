/**
 * The API page: the OpenAPI document for people, rendered on the server.
 *
 * Owns: the markup. Invariant: everything shown comes from the document; the page needs no script and loads nothing.
 */

import { raw } from 'hono/html';
import type { FC } from 'hono/jsx';
import type { JsonSchema, OpenApiDocument, OperationObject, Parameter } from '../openapi-types.ts';
import { curlExamples } from './curl.ts';
import { type Entry, type Section, sectionsOf } from './entries.ts';
import { style } from './style.ts';

interface Shared {
  readonly document: OpenApiDocument;
}

/** @param documentPath where the document itself is served, relative to the page */
export function renderPage(document: OpenApiDocument, documentPath: string): string {
  const page = <Page document={document} documentPath={documentPath} />;
  return `<!doctype html>${String(page)}`;
}

const Page: FC<Shared & { documentPath: string }> = ({ document, documentPath }) => {
  const sections = sectionsOf(document);
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${document.info.title} API`}</title>
        <link rel="icon" href="data:," />
        <style>{raw(style)}</style>
      </head>
      <body>
        <a class="skip" href="#operations">
          Skip to the operations
        </a>
        <div class="page">
          <Intro document={document} documentPath={documentPath} />
          <Contents sections={sections} />
          <main id="operations">
            {sections.map((section) => (
              <section aria-labelledby={anchorOf(section.tag)}>
                <h2 id={anchorOf(section.tag)}>{titleOf(section.tag)}</h2>
                {section.entries.map((entry) => (
                  <Operation entry={entry} document={document} />
                ))}
              </section>
            ))}
            <Records document={document} />
          </main>
        </div>
      </body>
    </html>
  );
};

const Intro: FC<Shared & { documentPath: string }> = ({ document, documentPath }) => (
  <header>
    <a class="home" href="../">
      {document.info.title}
    </a>
    <h1>{`${document.info.title} API`}</h1>
    <p class="soft">
      Version {document.info.version}, at <code>{document.servers[0]?.url}</code>.{' '}
      <a href={documentPath}>OpenAPI 3.1 document</a>
    </p>
    {document.info.description.split('\n\n').map((paragraph) => (
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
          {section.entries.map((entry) => (
            <li>
              <a href={`#${anchorOf(entry.id)}`}>{entry.operation.summary}</a>
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

const Operation: FC<Shared & { entry: Entry }> = ({ entry, document }) => {
  const { operation, method, path } = entry;
  return (
    <article id={anchorOf(entry.id)}>
      <h3>{operation.summary}</h3>
      <p class="line">
        <span class={`method ${method}`}>{method.toUpperCase()}</span> {path}
      </p>
      {entry.aliases.length > 0 && <p class="soft">Also {codeList(entry.aliases)}</p>}
      <p class="soft">{whoMayCall(operation)}</p>
      {operation.description?.split('\n\n').map((paragraph) => (
        <p>{withCode(paragraph)}</p>
      ))}
      {operation.parameters && <Parameters parameters={operation.parameters} />}
      <Body operation={operation} document={document} />
      <h4>Example</h4>
      {curlExamples(document, path, method, operation).map((example) => (
        <pre>
          <code>{example}</code>
        </pre>
      ))}
      <Answers operation={operation} document={document} />
    </article>
  );
};

function whoMayCall(operation: OperationObject): string {
  if (operation.security.length === 0) return 'For anyone; credentials are not looked at.';
  return operation.security.some((way) => !('basic' in way))
    ? 'For anyone, with or without an account.'
    : 'For accounts.';
}

const Parameters: FC<{ parameters: readonly Parameter[] }> = ({ parameters }) => (
  <>
    <h4>Parameters</h4>
    <dl>
      {parameters.map((parameter) => (
        <>
          <dt>
            <code>{parameter.name}</code>{' '}
            <span class="soft">
              {parameter.in}
              {parameter.required ? ', required' : ''}
            </span>
          </dt>
          <dd>{withCode(parameter.description ?? '')}</dd>
        </>
      ))}
    </dl>
  </>
);

const Body: FC<Shared & { operation: OperationObject }> = ({ operation, document }) => {
  const { requestBody } = operation;
  if (requestBody === undefined) return null;
  const [media] = Object.values(requestBody.content);
  return (
    <>
      <h4>Body{requestBody.required ? '' : ', optional'}</h4>
      <p class="soft">{codeList(Object.keys(requestBody.content))}</p>
      {media && <Fields schema={media.schema} document={document} requiredWord="required" />}
    </>
  );
};

/** The fields of an object; of a choice of bodies, the last, which has no wrapping. */
const Fields: FC<Shared & { schema: JsonSchema; requiredWord: string }> = (props) => {
  const { schema, document, requiredWord } = props;
  const object = unwrap(schema, document);
  const required = (object.required ?? []) as readonly string[];
  const properties = Object.entries((object.properties ?? {}) as Record<string, JsonSchema>);
  return (
    <dl>
      {properties.map(([name, property]) => (
        <>
          <dt>
            <code>{name}</code>{' '}
            <span class="soft">
              {typeOf(property)}
              {required.includes(name) ? `, ${requiredWord}` : ''}
            </span>
          </dt>
          {typeof property.description === 'string' && <dd>{withCode(property.description)}</dd>}
        </>
      ))}
    </dl>
  );
};

function unwrap(schema: JsonSchema, document: OpenApiDocument): JsonSchema {
  if (typeof schema.$ref === 'string') return document.components.schemas[nameOf(schema.$ref)] ?? {};
  const choice = (schema.anyOf as readonly JsonSchema[] | undefined)?.at(-1);
  return choice === undefined ? schema : unwrap(choice, document);
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

function typeOf(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') return nameOf(schema.$ref);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  const choices = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.type === 'array') return `list of ${typeOf((schema.items ?? {}) as JsonSchema)}`;
  return Array.isArray(schema.type) ? schema.type.join(' or ') : String(schema.type ?? 'anything');
}

const Answers: FC<Shared & { operation: OperationObject }> = ({ operation, document }) => (
  <>
    <h4>Answers</h4>
    {answersOf(operation, document).map(({ status, response }) => (
      <details>
        <summary>
          <span class="status">{status}</span> {withCode(response.description)}
        </summary>
        {Object.values(response.content ?? {}).map((media) => (
          <pre>
            <code>{JSON.stringify(media.example, null, 2)}</code>
          </pre>
        ))}
      </details>
    ))}
  </>
);

function answersOf(operation: OperationObject, document: OpenApiDocument) {
  return Object.entries(operation.responses).map(([status, { $ref }]) => {
    const response = document.components.responses[nameOf($ref)];
    if (response === undefined) throw new Error(`the document has no ${$ref}`);
    return { status, response };
  });
}

const Records: FC<Shared> = ({ document }) => (
  <section aria-labelledby="records">
    <h2 id="records">Records and answers</h2>
    {Object.entries(document.components.schemas).map(([name, schema]) => (
      <details>
        <summary>
          <code>{name}</code> {typeof schema.description === 'string' && withCode(schema.description)}
        </summary>
        <Fields schema={schema} document={document} requiredWord="always" />
      </details>
    ))}
  </section>
);

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
