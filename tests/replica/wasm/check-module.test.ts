// Any bytes that are not an installable module are refused with a reason.

import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ic0Interface } from '../../../packages/replica/src/execution/ic0-table.ts';
import type { CompiledModule } from '../../../packages/replica/src/wasm/compile.ts';
import { createCompiler } from '../../../packages/replica/src/wasm/compile.ts';
import { InvalidModule } from '../../../packages/replica/src/wasm/invalid-module.ts';
import { assemble } from '../../support/wasm-canisters/text-module.ts';

function compile(module: Uint8Array): CompiledModule {
  return createCompiler(ic0Interface)(module, 'a module');
}

const whole = assemble(`(module
  (import "ic0" "msg_reply" (func $reply))
  (memory 1) (table 2 funcref) (elem (i32.const 0) $f $f) (data (i32.const 8) "data")
  (global (mut i32) (i32.const 3))
  (func $f (export "canister_update f") (local i32 i64)
    (loop $l (br_if $l (i32.eqz (local.tee 0 (i32.const 1)))))
    (memory.fill (i32.const 0) (i32.const 0) (i32.const 4)) (call $reply)))`);

describe('a module', () => {
  it('with any change is compiled or refused, and causes no other error', () => {
    const change = fc.record({ at: fc.nat({ max: whole.length - 1 }), to: fc.nat({ max: 255 }) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = whole.slice();
        for (const { at, to } of changes) bytes[at] = to;
        try {
          compile(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidModule);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('that is truncated is refused, also inside gzip', () => {
    expect(() => compile(whole)).not.toThrow();
    expect(() => compile(new Uint8Array(gzipSync(whole)))).not.toThrow();
    expect(() => compile(whole.slice(0, -1))).toThrow(InvalidModule);
    expect(() => compile(new Uint8Array(gzipSync(whole)).slice(0, -9))).toThrow(InvalidModule);
  });
});
