/** Writes the OpenAPI document to `docs/openapi/mayfly.json`, without a service. A test compares the file with what this makes. */
import packageJson from '../package.json' with { type: 'json' };
import { type OpenApiDocument, publishDocument, renderOpenApiJson } from '../src/api/openapi/document.ts';
import { createV1 } from '../src/api/v1/operations.ts';
import { createV2 } from '../src/api/v2/service.ts';
import { createLinks } from '../src/core/links.ts';
import { builtInPlans } from '../src/core/plans.ts';
import type { RequestService } from '../src/core/requests/service.ts';
import type { SecretService } from '../src/core/secrets/service.ts';
import type { DomainService } from '../src/core/share-domains/service.ts';
import { systemClock } from '../src/core/time.ts';

const baseUrl = 'https://mayfly.example';

export const openApiFile = new URL('../docs/openapi/mayfly.json', import.meta.url);

/** Both versions, v2 with the document. */
export function describedApi() {
  const service = uncallable<SecretService>();
  const requests = uncallable<RequestService>();
  const domains = uncallable<DomainService>();
  const links = createLinks(baseUrl);
  const { version } = packageJson;
  const v1 = createV1({ service, links, dialect: 'documented', defaultLocale: 'en' });
  const v2 = createV2({
    ...{ service, requests, domains, links, version, plans: builtInPlans, dialect: 'documented' },
    ...{ locales: ['en'], defaultLocale: 'en', mailLocaleOf: () => 'en', region: null, clock: systemClock },
  });
  const info = { version, baseUrl };
  const { surface, document } = publishDocument(v2, [v1], info);
  return { surfaces: [v1, surface], info, document };
}

export function generateOpenApi(): Promise<OpenApiDocument> {
  return describedApi().document();
}

/** Stands for a service while its API is described, which calls nothing of it. */
function uncallable<Service extends object>(): Service {
  const refuse = (): never => {
    throw new Error('describing the API must not call the service');
  };
  return new Proxy<object>({}, { get: () => refuse }) as Service;
}

if (import.meta.main) await Bun.write(openApiFile, renderOpenApiJson(await generateOpenApi()));
