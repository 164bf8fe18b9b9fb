/** Contradictory region settings stop the start, each with a message that names both settings. */
import { describe, expect, it } from 'bun:test';
import { routerProblem, serverRegionProblem } from './conflicts.ts';
import { type Environment, readConfig, type Settings } from './read.ts';

const both = 'us=https://us.example.com,eu=https://eu.example.com/mayfly';

function read(env: Environment): Settings {
  const reading = readConfig(env);
  if (reading.outcome === 'refused') throw new Error(reading.refusals.join('\n'));
  return reading.settings;
}

function refusals(env: Environment): readonly string[] {
  const reading = readConfig(env);
  return reading.outcome === 'refused' ? reading.refusals : [];
}

describe('a region', () => {
  it('is reached at its own address when nothing else is said, and all that follows from it follows', () => {
    const config = read({ MAYFLY_REGION: 'eu', MAYFLY_REGIONS: both, PORT: '8080' });
    expect(config.baseUrl).toBe('https://eu.example.com/mayfly');
    expect([config.domainTarget, config.mailFrom, config.signUpIsOpen]).toEqual([
      'eu.example.com',
      'mayfly@eu.example.com',
      false,
    ]);
    expect(config.given.has('baseUrl')).toBe(false);
  });

  it('may say that address again, in any spelling of it, and no other', () => {
    const same = { MAYFLY_REGION: 'us', MAYFLY_REGIONS: both, MAYFLY_BASE_URL: 'https://US.example.com/' };
    expect(read(same).baseUrl).toBe('https://us.example.com');
    expect(refusals({ ...same, MAYFLY_BASE_URL: 'https://mayfly.example.com' })).toEqual([
      'MAYFLY_BASE_URL is "https://mayfly.example.com", but the region us has the address "https://us.example.com" in MAYFLY_REGIONS: remove MAYFLY_BASE_URL, or make them equal.',
    ]);
  });

  it('must be one of the regions', () => {
    expect(refusals({ MAYFLY_REGION: 'ap', MAYFLY_REGIONS: both })).toEqual([
      'MAYFLY_REGION names the region "ap", which is not in MAYFLY_REGIONS (us, eu).',
    ]);
    expect(refusals({ MAYFLY_REGION: 'us' })).toEqual([
      'MAYFLY_REGION names the region "us", but MAYFLY_REGIONS is not set: list all regions there, such as us=https://us.example.com,eu=https://eu.example.com.',
    ]);
  });

  it('must be said where a server serves among regions, and need not where nothing serves', () => {
    expect(serverRegionProblem(read({ MAYFLY_REGIONS: both }))).toBe(
      'MAYFLY_REGIONS is set but MAYFLY_REGION is not: set it to this server’s region (us, eu).',
    );
    expect(serverRegionProblem(read({ MAYFLY_REGIONS: both, MAYFLY_REGION: 'us' }))).toBeNull();
    expect(serverRegionProblem(read({}))).toBeNull();
  });
});

describe('the router', () => {
  it('needs to know the regions', () => {
    expect(routerProblem(read({}))).toStartWith('MAYFLY_REGIONS is not set: the router needs');
    expect(routerProblem(read({ MAYFLY_REGIONS: both }))).toBeNull();
  });

  it('takes servers and weights of regions only', () => {
    const env = {
      MAYFLY_REGIONS: both,
      MAYFLY_ROUTER_UPSTREAMS: 'us=http://10.0.0.1:3000,ap=http://10.0.0.2:3000,ap=http://10.0.0.3:3000',
      MAYFLY_ROUTER_WEIGHTS: 'eu=1,uk=2',
    };
    expect(refusals(env)).toEqual([
      'MAYFLY_ROUTER_UPSTREAMS names the region "ap", which is not in MAYFLY_REGIONS (us, eu).',
      'MAYFLY_ROUTER_WEIGHTS names the region "uk", which is not in MAYFLY_REGIONS (us, eu).',
    ]);
  });
});

it('without regions nothing is different', () => {
  expect(read({}).baseUrl).toBe('http://localhost:3000');
  expect(read({ PORT: '8080' }).baseUrl).toBe('http://localhost:8080');
});
