/** The documents for users of this installation and the API reference, as pages of the site. Both are in English only. */
import { raw } from 'hono/html';
import type { FC, PropsWithChildren } from 'hono/jsx';
import type { Links } from '../../core/links.ts';
import { RequestProblem } from '../../http/problem.ts';
import { wordsIn } from '../kit/language.ts';
import { type Frame, Page } from '../kit/layout.tsx';
import { type PageReply, type PageRoute, pageReply, staticPage } from '../kit/page.ts';
import { CopyButton, CopyStatus } from '../kit/parts.tsx';
import type { RouteName } from '../kit/routes.ts';
import type { FindDownload } from './downloads.ts';
import type { Block, Document } from './read-documents.ts';

export interface DocumentDeps {
  readonly links: Pick<Links, 'baseUrl'>;
  readonly findDownload: FindDownload;
  /** Returns the API reference's markup, from `api/`; the same on every call. */
  readonly apiReference: () => string;
}

export function createDocumentPages({ links, findDownload, apiReference }: DocumentDeps): PageRoute[] {
  const load = () => import('./documents.ts');
  return [
    staticPage('apiDocs', ({ frame }) => showReference(frame, apiReference())),
    staticPage('docs', async ({ frame }) => {
      const { documents } = await load();
      return replyAt(frame, 'docs', '', (plain) => <Shelf frame={plain} documents={documents} />);
    }),
    staticPage('doc', async ({ frame, key }) => {
      const document = (await load()).documents.find((each) => each.key === key);
      if (document === undefined) throw new RequestProblem({ problem: 'not_found' });
      const offer = await offerIn(document, findDownload);
      return replyAt(frame, 'doc', key, (plain) => (
        <DocumentPage frame={plain} document={document} baseUrl={links.baseUrl} offer={offer} />
      ));
    }),
  ];
}

/** Omits the query, so that the page repeats nothing from the request and may be compressed. */
function replyAt(
  frame: Frame,
  name: RouteName,
  key: string,
  render: (plain: Frame) => ReturnType<FC>,
): PageReply {
  const page = render({ ...frame, here: frame.href(name, key) });
  return { ...pageReply(200, page), repeatsNothing: true };
}

function showReference(frame: Frame, markup: string): PageReply {
  const title = frame.say('frame.api');
  return replyAt(frame, 'apiDocs', '', (plain) => (
    <Page frame={plain} title={title} scripts={['copy']} styles={['reference']}>
      {raw(markup)}
    </Page>
  ));
}

const Shelf: FC<{ frame: Frame; documents: readonly Document[] }> = ({ frame, documents }) => {
  const { href, messages } = frame;
  return (
    <Page frame={frame} title={messages.say('docs.title')} styles={['reference']}>
      <div class="documents" lang="en" dir="ltr">
        <h1>Docs</h1>
        <p class="lead">For everyone who shares from a program, a terminal or a pipeline.</p>
        <ul class="plain shelf">
          {documents.map(({ key, title, tells }) => (
            <Entry href={href('doc', key)} title={title}>
              {tells}
            </Entry>
          ))}
          <Entry href={href('apiDocs')} title="API reference">
            Every call, field and error, with examples.
          </Entry>
          <Entry href={`${href('home')}api/v2/openapi.json`} title="OpenAPI 3.1 document">
            Both versions of the API, for your tools.
          </Entry>
        </ul>
        <p class="hint">How to install and run Mayfly is in the documents that come with its source.</p>
      </div>
    </Page>
  );
};

const Entry: FC<PropsWithChildren<{ href: string; title: string }>> = ({ href, title, children }) => (
  <li>
    <h2>
      <a href={href}>{title}</a>
    </h2>
    <p>{children}</p>
  </li>
);

/** Placeholder addresses, replaced by this server's own. */
const exampleServers = /https:\/\/secrets\.example\.org|http:\/\/localhost:3000/g;

/** Finds the package that a document links to. The checksum is `undefined` if this installation does not serve the package. */
async function offerIn(document: Document, find: FindDownload) {
  const text = JSON.stringify(document);
  const name = (['mayfly.tgz', 'client.tgz'] as const).find((each) => text.includes(`/${each}`));
  return name === undefined ? null : { name, sha256: (await find(name))?.sha256 };
}

type Offer = Awaited<ReturnType<typeof offerIn>>;

interface DocumentProps {
  readonly frame: Frame;
  readonly document: Document;
  readonly baseUrl: string;
  readonly offer: Offer;
}

const DocumentPage: FC<DocumentProps> = ({ frame, document, baseUrl, offer }) => {
  const { title, intro, body, sections } = document;
  const { href } = frame;
  const basePath = href('home').slice(0, -1);
  const Blocks: FC<{ blocks: readonly Block[]; name: string }> = ({ blocks, name }) => (
    <>
      {blocks.map((block, at) =>
        block.kind === 'code' ? (
          <Code id={`${name}-${at + 1}`} code={block.code.replace(exampleServers, baseUrl)} offer={offer} />
        ) : (
          raw(block.markup.replaceAll('href="@/', `href="${basePath}/`))
        ),
      )}
    </>
  );
  return (
    <Page frame={frame} title={title} scripts={['copy']} styles={['reference']}>
      <div class="reference document" lang="en" dir="ltr">
        <div>
          <p class="up">
            <a href={href('docs')}>Docs</a>
          </p>
          <h1>{title}</h1>
          <Blocks blocks={intro} name="intro" />
        </div>
        <nav class="contents" aria-label="On this page">
          <ul>
            {sections.map(({ id, title: name }) => (
              <li>
                <a href={`#${id}`}>{name}</a>
              </li>
            ))}
          </ul>
        </nav>
        <div>
          <Blocks blocks={body} name="code" />
          <CopyStatus frame={english} failed="copy.failed" />
        </div>
      </div>
    </Page>
  );
};

const english = wordsIn('en');

const Code: FC<{ id: string; code: string; offer: Offer }> = ({ id, code, offer }) => {
  const fetched = offer !== null && code.includes(`/${offer.name}`) ? offer : null;
  if (fetched !== null && fetched.sha256 === undefined)
    return (
      <p>
        (This installation does not serve <code>{fetched.name}</code>: it runs from the sources, or its
        operator has turned that off.)
      </p>
    );
  return (
    <>
      <div class="call">
        <pre>
          <code id={id}>{code}</code>
        </pre>
        <CopyButton frame={english} target={id} class="quiet small" />
      </div>
      {fetched && (
        <p>
          <small>
            SHA-256 of <code>{fetched.name}</code>: <code>{fetched.sha256}</code>
          </small>
        </p>
      )}
    </>
  );
};
