/** The API reference in the frame of the site. What it says is handed over by `api/`, in English whatever the visitor's language. */
import { raw } from 'hono/html';
import { Page } from '../kit/layout.tsx';
import type { PageRoute } from '../kit/page.ts';
import { replyAt } from './docs.tsx';

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
        handle: ({ frame }) =>
          replyAt(frame, 'apiDocs', '', (plain) => (
            <Page
              frame={plain}
              title={frame.words.say('frame.api')}
              scripts={['copy']}
              styles={['reference']}
            >
              {raw(apiReference())}
            </Page>
          )),
      },
    },
  ];
}
