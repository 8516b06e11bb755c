// The files that dfx and icp deploy by: valid against the tools' own schemas, and true.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { projectDir } from './source-tree.ts';

function readText(name: string): string {
  return readFileSync(join(projectDir, name), 'utf8');
}

function validate(schemaName: string, document: unknown): unknown {
  const schema = JSON.parse(readText(`tests/schemas/${schemaName}`));
  const options = { strict: false, validateFormats: false, allErrors: true };
  const ajv = String(schema.$schema).includes('2020') ? new Ajv2020(options) : new Ajv(options);
  const check = ajv.compile(schema);
  return check(document) ? [] : check.errors;
}

describe('dfx.json', () => {
  const document = JSON.parse(readText('dfx.json'));

  test('is valid against the schema of dfx', () => {
    expect(validate('dfx-json-schema.json', document)).toEqual([]);
    expect(validate('dfx-json-schema.json', { canisters: 1 })).not.toEqual([]);
  });

  test('names files that the build makes', () => {
    const { main, wasm, candid } = document.canisters.file_storage;
    expect([main, wasm, candid].map((path) => existsSync(join(projectDir, path)))).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe('icp.yaml', () => {
  const document = parse(readText('icp.yaml'));

  test('is valid against the schema of icp', () => {
    expect(validate('icp-yaml-schema.json', document)).toEqual([]);
    expect(validate('icp-yaml-schema.json', { canisters: 1 })).not.toEqual([]);
  });
});
