/**
 * API v1, bound to the service.
 *
 * Owns: the handlers, one call of the service each, and the surface that `http/mount` serves. Invariant: only a POST on
 * a receipt notes that its creator has looked (P4), and who may manage is decided by the service, told the dialect's
 * authority (P16).
 */

import type { Links } from '../../domain/links.ts';
import type { BurnInput, SecretService } from '../../domain/outcomes.ts';
import type { ApiSurface } from '../../http/mount.ts';
import type { Exchange, Operation } from '../../http/operation.ts';
import { RequestProblem } from '../../http/problem.ts';
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
import { type Dialect, type DialectName, dialectOf } from './dialect.ts';
import {
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
}

/** The wire contract's bound on the recent list. */
const recentMax = 1_000;

export function createV1({ service, links, dialect: name }: V1Deps): ApiSurface {
  const dialect = dialectOf(name);
  return {
    base: '/api/v1',
    operations: [
      ...metaOperations(dialect),
      ...creationOperations(service, dialect),
      revealOperation(service, links, dialect),
      recentOperation(service, dialect),
      ...receiptOperations(service, dialect),
      burnOperation(service, dialect),
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

function metaOperations(dialect: Dialect): Operation[] {
  const code = {
    decode: (exchange: Exchange) => decodeNothing(exchange, dialect),
    handle: encodeNominal,
  };
  return [bind(v1Contract.status, code), bind(v1Contract.authcheck, code)];
}

function creationOperations(service: SecretService, dialect: Dialect): Operation[] {
  return [
    bind(v1Contract.conceal, {
      decode: (exchange) => decodeConceal(exchange, dialect),
      handle: async (input, caller) => encodeCreation(await service.conceal(input, caller), dialect),
    }),
    bind(v1Contract.generate, {
      decode: (exchange) => decodeGenerate(exchange, dialect),
      handle: async (input, caller) => encodeCreation(await service.generate(input, caller), dialect),
    }),
  ];
}

function revealOperation(service: SecretService, links: Links, dialect: Dialect): Operation {
  return bind(v1Contract.reveal, {
    decode: (exchange) => decodeReveal(exchange, dialect),
    async handle({ key, passphrase }, caller, { clientPrefix, isAbandoned }) {
      const input = {
        secretKey: key,
        clientPrefix,
        isAbandoned,
        ...(passphrase === null ? {} : { passphrase }),
      };
      return encodeReveal(await service.reveal(input, caller), key, dialect, links.linkOrigin);
    },
  });
}

function recentOperation(service: SecretService, dialect: Dialect): Operation {
  return bind(v1Contract.recent, {
    decode: (exchange) => decodeNothing(exchange, dialect),
    async handle(_, caller) {
      if (caller.kind !== 'account') throw new RequestProblem({ problem: 'not_authorized' });
      const outcome = await service.recent({ limit: recentMax }, caller);
      return encodeRecent(outcome.outcome === 'listed' ? outcome.receipts : [], dialect);
    },
  });
}

function receiptOperations(service: SecretService, dialect: Dialect): Operation[] {
  const authority = dialect.managementAuthority;
  return [
    bind(managed(v1Contract.viewReceipt, dialect), {
      decode: (exchange) => decodeReceipt(exchange, dialect),
      handle: async ({ key }, caller) =>
        encodeReceipt(await service.viewReceipt({ metadataKey: key, authority }, caller), key, dialect),
    }),
    bind(managed(v1Contract.findReceipt, dialect), {
      decode: (exchange) => decodeReceipt(exchange, dialect),
      handle: async ({ key }, caller) =>
        encodeReceipt(await service.findReceipt({ metadataKey: key, authority }, caller), key, dialect),
    }),
  ];
}

function burnOperation(service: SecretService, dialect: Dialect): Operation {
  return bind(managed(v1Contract.burn, dialect), {
    decode: (exchange) => decodeBurn(exchange, dialect),
    handle: async (input, caller, exchange) =>
      encodeBurn(await service.burn(burnInput(input, exchange, dialect), caller), input.key, dialect),
  });
}

function burnInput({ key, passphrase }: KeyInput, exchange: Exchange, dialect: Dialect): BurnInput {
  const { clientPrefix, isAbandoned } = exchange;
  const input = { metadataKey: key, authority: dialect.managementAuthority, isAbandoned };
  return dialect.burnNeedsPassphrase ? { ...input, proof: { passphrase, clientPrefix } } : input;
}

function managed(contract: OperationContract, dialect: Dialect): OperationContract {
  return { ...contract, access: dialect.managementAccess };
}
