/**
 * A client's request, made ready for a region.
 *
 * Owns: what is read of it before a region is chosen. Invariant: a body up to the cap is read whole first, so that a slow
 * client holds no connection to a region; a larger one, or one without a length, is passed on as it comes; nothing is
 * held beyond that, and nothing is kept.
 */
import { builtInPlans } from '../core/plans.ts';
import { BodyTimeout, bodyCapBytesFor, type ReadBody } from '../http/body.ts';
import type { ClientAddressOf, PeerSource } from '../http/client-address.ts';
import { RequestProblem } from '../http/problem.ts';
import { endOfTurn } from '../http/turn.ts';
import { fieldsForRegion } from './fields.ts';
import { type BodyStream, type HopRequest, isSafe } from './hop.ts';
import { circle, malformed, type Refusal } from './refusals.ts';

/** As large as a region with the built-in plans takes one of the API's bodies. */
export const wholeBytes = bodyCapBytesFor(builtInPlans);

export interface RequestDeps {
  readonly clientAddressOf: ClientAddressOf;
  /** Reads at most `wholeBytes`. */
  readonly readBody: ReadBody;
  /** The name of this router in `Via`; no other router has it. */
  readonly via: string;
}

export type RequestReading =
  | { readonly outcome: 'read'; readonly request: HopRequest; readonly clientAddress: string }
  | { readonly outcome: 'refused'; readonly refusal: Refusal; readonly isConnectionOver: boolean };

function refused(refusal: Refusal, isConnectionOver = false): RequestReading {
  return { outcome: 'refused', refusal, isConnectionOver };
}

/** @param target path and query as received */
export async function readRequest(
  request: Request,
  peer: PeerSource | undefined,
  target: string,
  deps: RequestDeps,
): Promise<RequestReading> {
  const { method, headers, signal } = request;
  if (headers.get('via')?.includes(deps.via) === true) return refused(circle);
  const clientAddress = deps.clientAddressOf(request, peer);
  const fields = fieldsForRegion(headers, clientAddress, deps.via);
  if (fields === null)
    return refused(malformed('Connection may not name a field that the request is decided by'));
  // The runtime lets no other character through; a request line could not hold one.
  if (!/^[\x21-\x7e]+$/.test(target)) return refused(malformed('The address is not well-formed'));
  try {
    const body = await readContent(request, deps.readBody);
    // A request pipelined behind this one ends the connection: the region then hears of neither (P3).
    if (!isSafe(method)) await endOfTurn();
    return { outcome: 'read', request: { method, target, fields, body, signal }, clientAddress };
  } catch (error) {
    if (!(error instanceof RequestProblem) || error.problem.problem !== 'malformed') throw error;
    return refused(malformed(error.problem.message), error instanceof BodyTimeout);
  }
}

function readContent(request: Request, readBody: ReadBody): null | BodyStream | Promise<Uint8Array> {
  const { method, headers } = request;
  if (isSafe(method)) return null;
  const declared = headers.get('content-length');
  if (declared === '0' || (declared === null && !headers.has('transfer-encoding'))) return null;
  if (declared !== null && Number(declared) <= wholeBytes) return readBody(request);
  const stream = request.body;
  return stream === null ? null : { stream, lengthBytes: declared === null ? null : Number(declared) };
}
