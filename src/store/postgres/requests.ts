import { ServiceError } from '../../core/errors.ts';
import type { RequestStore } from '../../core/ports/requests.ts';

const refuse = async (): Promise<never> => {
  throw new ServiceError('unavailable', 'This store keeps no requests yet.');
};

/** Until the stores of servers keep requests. */
export const requestsToCome: RequestStore = {
  putRequest: refuse,
  findRequest: refuse,
  findAnswer: refuse,
  listAnswers: refuse,
  putAnswer: refuse,
  changeRequest: refuse,
  discardAnswer: refuse,
  takeRequestNotice: refuse,
  reportRequest: refuse,
  listRequests: refuse,
  endRequest: refuse,
  endRequests: async () => 0,
};
