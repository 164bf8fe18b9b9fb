/**
 * The operation that serves the OpenAPI document.
 *
 * Owns: its place, `/openapi.json` of the version that carries it. Invariant: the document is built once, at the first
 * call, from all versions and from this very operation.
 */
import { z } from 'zod';
import type { ApiSurface } from '../http/api.ts';
import type { Operation } from '../http/operation.ts';
import { type ApiInfo, buildOpenApi } from './openapi.ts';
import type { OpenApiDocument } from './openapi-types.ts';

export interface Published {
  /** The surface with the operation added. */
  readonly surface: ApiSurface;
  /** The document, for the page; the same object every time. */
  readonly document: () => OpenApiDocument;
}

/**
 * @param surface the version that serves the document
 * @param others the versions that it describes besides
 */
export function publishDocument(
  surface: ApiSurface,
  others: readonly ApiSurface[],
  info: ApiInfo,
): Published {
  let built: OpenApiDocument | null = null;
  const document = () => {
    built ??= buildOpenApi([...others, published], info);
    return built;
  };
  const published: ApiSurface = { ...surface, operations: [...surface.operations, operationFor(document)] };
  return { surface: published, document };
}

const documentAnswer = z
  .looseObject({ openapi: z.literal('3.1.0'), info: z.looseObject({}), paths: z.looseObject({}) })
  .meta({ id: 'OpenApiDocument' });

function operationFor(document: () => OpenApiDocument): Operation {
  return {
    name: 'v2.openapi',
    method: 'GET',
    path: '/openapi.json',
    access: 'open',
    limit: 'none',
    document: {
      summary: 'This document',
      tag: 'Service',
      responses: { 200: { description: 'OpenAPI 3.1, of all versions.', schema: documentAnswer } },
    },
    decode: () => null,
    handle: () => ({ status: 200, body: document() }),
  };
}
