/**
 * Answers with the API page.
 *
 * Owns: its path and its content security policy: no script, no request, one style sheet named by its hash (P19).
 * Invariant: document and page are rendered once, at the first call.
 */
import { createHash } from 'node:crypto';
import { newRequestId, pageResponse } from '../../http/headers.ts';
import type { OpenApiDocument } from '../openapi-types.ts';
import { renderPage } from './page.tsx';
import { style } from './style.ts';

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

/** The page's answer; the document is asked for once. */
export function createDocsPage(document: () => OpenApiDocument): () => Response {
  let markup: string | null = null;
  return () => {
    markup ??= renderPage(document(), 'v2/openapi.json');
    const response = pageResponse(200, markup, newRequestId());
    response.headers.set('content-security-policy', docsContentSecurityPolicy);
    return response;
  };
}
