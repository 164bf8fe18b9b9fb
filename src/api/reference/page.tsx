/**
 * Renders the API reference from the operations: the page's main content, in English. `web/` adds the site's frame. Collapsed
 * sections open without scripts, even when a link leads into them, because each anchor is inside its section.
 */
import type { FC } from 'hono/jsx';
import type { ApiSurface } from '../../http/api.ts';
import type { Operation } from '../../http/operation.ts';
import { curlExamples } from '../openapi/calls.ts';
import {
  type ApiInfo,
  description,
  parametersOf,
  pathOf,
  proseOf,
  tagOf,
  templateOf,
  versionOf,
} from '../openapi/document.ts';
import { createExampleAnswers, type ExampleAnswers } from '../openapi/examples.ts';
import { codesOf, componentsOf, descriptionOf, type Field, fieldsOf, typeOf } from '../openapi/schema.ts';
import { commonRefusals, Errors, refusalRows } from './errors.tsx';
import { FirstCalls } from './first-calls.tsx';
import { anchorOf, codeList, errorAnchor, recordAnchor, withCode } from './text.tsx';

/** Renders the reference on the first call. */
export function createReference(surfaces: readonly ApiSurface[], info: ApiInfo): () => string {
  let markup: string | null = null;
  return () => {
    markup ??= String(<Reference sections={sectionsOf(surfaces)} info={info} />);
    return markup;
  };
}

export interface Entry {
  readonly operation: Operation;
  /** With parameters in braces. */
  readonly path: string;
  /** `GET /api/v2/receipt/{key}`; without HEAD, which every GET also serves. */
  readonly aliases: readonly string[];
}

interface Section {
  readonly tag: string;
  readonly entries: readonly Entry[];
}

/** Groups operations by version, newest first, and then by tag. */
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

/** Context for all parts of the page. */
interface Told {
  readonly baseUrl: string;
  readonly examples: ExampleAnswers;
  /** The operation that explains each field, keyed by the field as JSON. */
  readonly explained: Map<string, Operation>;
  /** Names of the records that have an entry. */
  readonly records: ReadonlySet<string>;
}

const Reference: FC<{ sections: readonly Section[]; info: ApiInfo }> = ({ sections, info }) => {
  const operations = sections.flatMap(({ entries }) => entries.map(({ operation }) => operation));
  const records = componentsOf(operations.map(answerOf).filter((schema) => schema !== null));
  const told: Told = {
    baseUrl: info.baseUrl,
    examples: createExampleAnswers(info.baseUrl),
    explained: new Map(),
    records: new Set(records.map(([name]) => name)),
  };
  return (
    <div class="reference" lang="en" dir="ltr">
      <div>
        <Intro info={info} />
        <FirstCalls info={info} />
      </div>
      <Contents sections={sections} />
      <div>
        <Idea />
        <Accounts />
        {sections.map((section) => (
          <section aria-labelledby={anchorOf(section.tag)}>
            <h2 id={anchorOf(section.tag)} class="large">
              {titleOf(section.tag)}
            </h2>
            {section.entries.map((entry) => (
              <OperationEntry entry={entry} told={told} />
            ))}
          </section>
        ))}
        <Errors />
        <Records records={records} told={told} />
      </div>
    </div>
  );
};

function answerOf({ document: { responses } }: Operation) {
  return responses[200]?.schema ?? null;
}

const Intro: FC<{ info: ApiInfo }> = ({ info }) => (
  <>
    <p class="up">
      <a href={pathOf(info, '/docs')}>Docs</a>
    </p>
    <h1>API</h1>
    <p class="lead">
      Version {info.version}, at <code>{info.baseUrl}</code>.{' '}
      <a href={pathOf(info, '/api/v2/openapi.json')}>OpenAPI 3.1 document</a>
    </p>
  </>
);

const Idea: FC = () => (
  <section aria-labelledby="idea">
    <h2 id="idea" class="large">
      How it works
    </h2>
    {description.split('\n\n').map((paragraph) => (
      <p>{paragraph}</p>
    ))}
  </section>
);

const Contents: FC<{ sections: readonly Section[] }> = ({ sections }) => {
  const parts: readonly (readonly [anchor: string, title: string])[] = [
    ['first-calls', 'Three calls'],
    ['idea', 'How it works'],
    ['accounts', 'Accounts and API tokens'],
    ...sections.map(({ tag }) => [anchorOf(tag), titleOf(tag)] as const),
    ['errors', 'Errors'],
    ['records', 'Records'],
  ];
  return (
    <nav class="contents" aria-label="On this page">
      <ul>
        {parts.map(([anchor, title]) => (
          <li>
            <a href={`#${anchor}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
};

const Accounts: FC = () => (
  <section aria-labelledby="accounts">
    <h2 id="accounts" class="large">
      Accounts and API tokens
    </h2>
    <p>
      An account signs in with HTTP Basic: its e-mail address and an API token (
      <code>curl --user 'you@example.com:API_TOKEN'</code>). Make a token in the browser, under your account,
      or with <code>mayfly account token create</code>. Credentials that are sent must be right, also where
      none are needed.
    </p>
    <p>
      A token has scopes: <code>create</code> to share, <code>manage</code> to see and burn by the metadata
      key and for domains, <code>read-recent</code> to list. Reading a secret needs none.
    </p>
  </section>
);

const OperationEntry: FC<{ entry: Entry; told: Told }> = ({ entry, told }) => {
  const { operation, path, aliases } = entry;
  const { method } = operation;
  const prose = proseOf(operation);
  return (
    <details class="operation">
      <summary>
        <h3>
          {operation.document.summary}{' '}
          <code>
            <span class={`method ${method.toLowerCase()}`}>{method}</span> {path}
          </code>
        </h3>
      </summary>
      <div class="told" id={anchorOf(operation.name)}>
        {aliases.length > 0 && <p class="soft">Also {codeList(aliases)}</p>}
        <p class="soft">{whoMayCall(operation)}</p>
        {prose !== '' && prose.split('\n\n').map((paragraph) => <p>{withCode(paragraph)}</p>)}
        <Parameters operation={operation} told={told} />
        <Body operation={operation} told={told} />
        <h4>Example</h4>
        {curlExamples(operation, told.baseUrl + path).map((example) => (
          <pre>
            <code>{example}</code>
          </pre>
        ))}
        <Answer operation={operation} told={told} />
      </div>
    </details>
  );
};

function whoMayCall({ access }: Operation): string {
  if (access === 'open') return 'For anyone; credentials are not read.';
  return access === 'anyone' ? 'For anyone, with or without an account.' : 'For accounts.';
}

const Parameters: FC<{ operation: Operation; told: Told }> = ({ operation, told }) => {
  const places = Object.entries(parametersOf(operation.path, operation.document));
  const fields = places.flatMap(([place, schema]) =>
    fieldsOf(schema).map((field) => ({ ...field, type: place })),
  );
  if (fields.length === 0) return null;
  return (
    <>
      <h4>Parameters</h4>
      <Fields fields={fields} requiredWord="required" operation={operation} told={told} />
    </>
  );
};

const Body: FC<{ operation: Operation; told: Told }> = ({ operation, told }) => {
  const { body } = operation.document;
  if (body === undefined) return null;
  return (
    <>
      <h4>Body{body.required ? '' : ', optional'}</h4>
      <p class="soft">{codeList(body.contentTypes)}</p>
      <Fields fields={fieldsOf(body.schema)} requiredWord="required" operation={operation} told={told} />
    </>
  );
};

interface FieldsProps {
  readonly fields: readonly Field[];
  readonly requiredWord: string;
  readonly told: Told;
  /** If set, fields explained by an earlier operation refer to that operation. */
  readonly operation?: Operation;
}

const Fields: FC<FieldsProps> = ({ fields, requiredWord, told, operation }) => {
  const fresh = fields.filter((field) => explainedBy(field, operation, told) === null);
  const known = Map.groupBy(
    fields.filter((field) => !fresh.includes(field)),
    (field) => explainedBy(field, operation, told),
  );
  return (
    <>
      <FieldList fields={fresh} requiredWord={requiredWord} told={told} />
      {Array.from(known, ([other, group]) => (
        <p class="soft">
          {codeList(group.map(({ name }) => name))}: as in{' '}
          <a href={`#${anchorOf(other?.name ?? '')}`}>{other?.document.summary}</a>.
        </p>
      ))}
    </>
  );
};

/** Returns the earlier operation that explains the field, or `null` if it is explained here. */
function explainedBy(field: Field, operation: Operation | undefined, { explained }: Told): Operation | null {
  if (operation === undefined) return null;
  const key = JSON.stringify(field);
  const first = explained.get(key) ?? operation;
  explained.set(key, first);
  return first === operation ? null : first;
}

const FieldList: FC<Omit<FieldsProps, 'operation'>> = ({ fields, requiredWord, told }) =>
  fields.length === 0 ? null : (
    <dl class="fields">
      {fields.map((field) => (
        <>
          <dt>
            <code>{field.name}</code>{' '}
            <span class="soft">
              <Type name={field.type} told={told} />
              {field.isRequired ? `, ${requiredWord}` : ''}
            </span>
          </dt>
          {field.description !== null && <dd>{withCode(field.description)}</dd>}
        </>
      ))}
    </dl>
  );

/** Links record names to their fields. */
const Type: FC<{ name: string; told: Told }> = ({ name, told }) => (
  <>
    {name
      .split(/\b(V\d\w+)\b/)
      .map((part) => (told.records.has(part) ? <a href={`#${recordAnchor(part)}`}>{part}</a> : part))}
  </>
);

const Answer: FC<{ operation: Operation; told: Told }> = ({ operation, told }) => {
  const { responses } = operation.document;
  const answer = responses[200];
  const example = told.examples(operation.name);
  return (
    <>
      <h4>Answer</h4>
      {answer !== undefined && (
        <p>
          {withCode(answer.description)} (<Type name={typeOf(answer.schema)} told={told} />)
        </p>
      )}
      {example !== null && (
        <pre>
          <code>{JSON.stringify(example, null, 2)}</code>
        </pre>
      )}
      <Refusals operation={operation} />
    </>
  );
};

/** Omits the refusals that any call may get. */
const Refusals: FC<{ operation: Operation }> = ({ operation: { document } }) => {
  const codes = Object.values(document.responses)
    .flatMap(({ schema }) => codesOf(schema))
    .filter((code) => refusalRows.some((row) => row.code === code) && !commonRefusals.has(code));
  return (
    <p class="soft">
      {codes.length > 0 && (
        <>
          Refusals:{' '}
          {codes.map((code, at) => (
            <>
              {at > 0 && ', '}
              <a href={`#${errorAnchor(code)}`}>
                <code>{code}</code>
              </a>
            </>
          ))}
          , and those of every call.{' '}
        </>
      )}
      <a href="#errors">All errors</a>
    </p>
  );
};

const Records: FC<{ records: ReturnType<typeof componentsOf>; told: Told }> = ({ records, told }) => (
  <section aria-labelledby="records">
    <h2 id="records" class="large">
      Records
    </h2>
    <p>Every field of every answer, once.</p>
    {records.map(([name, schema]) => {
      const text = descriptionOf(schema);
      return (
        <details class="operation">
          <summary>
            <h3>
              <code>{name}</code>
            </h3>
          </summary>
          <div class="told" id={recordAnchor(name)}>
            {text !== null && <p>{withCode(text)}</p>}
            <FieldList fields={fieldsOf(schema)} requiredWord="always" told={told} />
          </div>
        </details>
      );
    })}
  </section>
);

function titleOf(tag: string): string {
  return tag.replace(/^v(\d+) (.*)$/, '$2, version $1').replace(/^v(\d+)$/, 'Version $1');
}
