/**
 * Writes the OpenAPI document of both versions to `docs/openapi/mayfly.json`.
 *
 * Owns: the surfaces to describe. Invariant: the service behind them is never called; describing needs only the
 * contracts. A test compares the file with what this makes.
 */

import packageJson from '../package.json' with { type: 'json' };
import { renderOpenApiJson } from '../src/api/openapi.ts';
import { publishDocument } from '../src/api/openapi-operation.ts';
import type { OpenApiDocument } from '../src/api/openapi-types.ts';
import { createV1 } from '../src/api/v1/handlers.ts';
import { createV2 } from '../src/api/v2/surface.ts';
import { createLinks } from '../src/domain/links.ts';
import type { SecretService } from '../src/domain/outcomes.ts';

const baseUrl = 'https://mayfly.example';

export const openApiFile = new URL('../docs/openapi/mayfly.json', import.meta.url);

export function generateOpenApi(): OpenApiDocument {
  const service = uncallableService();
  const links = createLinks(baseUrl);
  const { version } = packageJson;
  const v1 = createV1({ service, links, dialect: 'documented' });
  const v2 = createV2({ service, links, version, locales: ['en'], defaultLocale: 'en' });
  return publishDocument(v2, [v1], { version, baseUrl }).document();
}

function uncallableService(): SecretService {
  const refuse = (): never => {
    throw new Error('describing the API must not call the service');
  };
  return {
    conceal: refuse,
    generate: refuse,
    reveal: refuse,
    inspect: refuse,
    secretStatus: refuse,
    findReceipt: refuse,
    viewReceipt: refuse,
    burn: refuse,
    resend: refuse,
    suggest: refuse,
    recent: refuse,
    authenticate: refuse,
  };
}

if (import.meta.main) await Bun.write(openApiFile, renderOpenApiJson(generateOpenApi()));
