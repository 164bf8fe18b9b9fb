/**
 * API v1, bound to the service.
 *
 * Owns: the handlers, one call of the service each, and the surface that `http/api.ts` serves. Invariant: only a POST on
 * a receipt notes that its creator has looked (P4), and who may manage is decided by the service, told the dialect's
 * authority (P16).
 */

import type { Links } from '../../core/links.ts';
import type { BurnInput } from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import type { ApiSurface } from '../../http/api.ts';
import type { Exchange, Operation } from '../../http/operation.ts';
import { RequestProblem } from '../../http/problem.ts';
import type { DialectName } from '../dialect.ts';
import { type OperationContract, v1Contract } from './contract.ts';
import {
  decodeBurn,
  decodeConceal,
  decodeGenerate,
  decodeNothing,
  decodeReceipt,
  decodeReveal,
  type KeyInput,
} from './decode.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import {
  type EncodeDeps,
  encodeBurn,
  encodeCreation,
  encodeNominal,
  encodeReceipt,
  encodeRecent,
  encodeReveal,
} from './encode.ts';
import { encodeProblem } from './refusals.ts';

export interface V1Deps {
  readonly service: SecretService;
  readonly links: Links;
  readonly dialect: DialectName;
  /** What `/status` names. */
  readonly defaultLocale: string;
}

/** The wire contract's bound on the recent list. */
const recentMax = 1_000;

/** The same, with the dialect as the table has it. */
interface BoundDeps extends EncodeDeps {
  readonly service: SecretService;
  readonly defaultLocale: string;
}

export function createV1({ dialect: name, ...rest }: V1Deps): ApiSurface {
  const dialect = dialectOf(name);
  const deps: BoundDeps = { ...rest, dialect };
  return {
    base: '/api/v1',
    operations: [
      ...metaOperations(deps),
      ...creationOperations(deps),
      revealOperation(deps),
      recentOperation(deps),
      ...receiptOperations(deps),
      burnOperation(deps),
    ],
    encodeProblem: (problem) => encodeProblem(problem, dialect),
    acceptsTrailingSlash: true,
  };
}

/** A contract with its code. A list of operations forgets the input's type, which only their own two functions share. */
function bind<Input>(
  contract: OperationContract,
  code: Pick<Operation<Input>, 'decode' | 'handle'>,
): Operation {
  return { ...contract, ...code } as Operation;
}

function metaOperations({ dialect, defaultLocale }: BoundDeps): Operation[] {
  const code: Pick<Operation, 'decode' | 'handle'> = {
    decode: (exchange) => decodeNothing(exchange, dialect),
    handle: () => encodeNominal(defaultLocale),
  };
  return [bind(v1Contract.status, code), bind(v1Contract.authcheck, code)];
}

function creationOperations(deps: BoundDeps): Operation[] {
  const { service, dialect } = deps;
  return [
    bind(v1Contract.conceal, {
      decode: (exchange) => decodeConceal(exchange, dialect),
      handle: async (input, caller) => encodeCreation(await service.conceal(input, caller), deps),
    }),
    bind(v1Contract.generate, {
      decode: (exchange) => decodeGenerate(exchange, dialect),
      handle: async (input, caller) => encodeCreation(await service.generate(input, caller), deps),
    }),
  ];
}

function revealOperation(deps: BoundDeps): Operation {
  return bind(v1Contract.reveal, {
    decode: (exchange) => decodeReveal(exchange, deps.dialect),
    async handle({ key, passphrase }, caller, { clientPrefix, isAbandoned }) {
      const input = { secretKey: key, clientPrefix, isAbandoned, passphrase };
      return encodeReveal(await deps.service.reveal(input, caller), key, deps);
    },
  });
}

function recentOperation(deps: BoundDeps): Operation {
  return bind(v1Contract.recent, {
    decode: (exchange) => decodeNothing(exchange, deps.dialect),
    async handle(_, caller) {
      if (caller.kind !== 'account') throw new RequestProblem({ problem: 'not_authorized' });
      const outcome = await deps.service.recent({ limit: recentMax, cursor: null, states: null }, caller);
      return encodeRecent(outcome.outcome === 'listed' ? outcome.receipts : [], deps);
    },
  });
}

function receiptOperations(deps: BoundDeps): Operation[] {
  const { service, dialect } = deps;
  const authority = dialect.managementAuthority;
  return [
    bind(managed(v1Contract.viewReceipt, dialect), {
      decode: (exchange) => decodeReceipt(exchange, dialect),
      handle: async ({ key }, caller) =>
        encodeReceipt(await service.viewReceipt({ metadataKey: key, authority }, caller), key, deps),
    }),
    bind(managed(v1Contract.findReceipt, dialect), {
      decode: (exchange) => decodeReceipt(exchange, dialect),
      handle: async ({ key }, caller) =>
        encodeReceipt(await service.findReceipt({ metadataKey: key, authority }, caller), key, deps),
    }),
  ];
}

function burnOperation(deps: BoundDeps): Operation {
  const { service, dialect } = deps;
  return bind(managed(v1Contract.burn, dialect), {
    decode: (exchange) => decodeBurn(exchange, dialect),
    handle: async (input, caller, exchange) =>
      encodeBurn(await service.burn(burnInput(input, exchange, dialect), caller), input.key, deps),
  });
}

function burnInput({ key, passphrase }: KeyInput, exchange: Exchange, dialect: Dialect): BurnInput {
  const { clientPrefix, isAbandoned } = exchange;
  const proof = dialect.burnNeedsPassphrase ? { passphrase, clientPrefix } : null;
  return { metadataKey: key, authority: dialect.managementAuthority, isAbandoned, proof };
}

function managed(contract: OperationContract, dialect: Dialect): OperationContract {
  return { ...contract, access: dialect.managementAccess };
}
