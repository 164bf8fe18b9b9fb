/** The API reference in the frame of the site. What it says is handed over by `api/`, in English whatever the visitor's language. */
import { raw } from 'hono/html';
import { Page, renderPage } from '../kit/layout.tsx';
import { type PageRoute, pageReply } from '../kit/page.ts';

export interface ReferenceDeps {
  /** The main part as markup, the same at every call. */
  readonly apiReference: () => string;
}

export function createReferencePages({ apiReference }: ReferenceDeps): PageRoute[] {
  return [
    {
      name: 'apiDocs',
      needsNoSession: true,
      get: {
        limit: 'none',
        isStatic: true,
        handle: ({ frame }) => {
          // Its address alone: what a query brings is not repeated, so nothing that is sent is, and the page may be compressed.
          const plain = { ...frame, here: frame.href('apiDocs') };
          const page = (
            <Page
              frame={plain}
              title={frame.words.say('frame.api')}
              scripts={['copy']}
              styles={['reference']}
            >
              {raw(apiReference())}
            </Page>
          );
          const reply = pageReply(200, renderPage(page));
          return { ...reply, repeatsNothing: true };
        },
      },
    },
  ];
}
