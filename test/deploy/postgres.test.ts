/**
 * deploy/postgres/compose.yaml without a container engine: its scripts and its settings run on Debian's PostgreSQL, as the image would run
 * them, and what it says of Mayfly is read as Mayfly reads it.
 */
import { describe, expect, it, setDefaultTimeout } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  freePort,
  makePostgresFolder,
  type PostgresServer,
  runPostgresProgram,
  servePostgres,
} from '../support/postgres.ts';
import { repositoryRoot } from '../support/started-server.ts';

setDefaultTimeout(120_000);
