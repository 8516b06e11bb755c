// A module's metadata: custom sections `icp:public NAME` and `icp:private NAME`, within the
// network's bounds. IC spec, "WebAssembly module requirements"; `dfinity/ic`
// `rs/embedders/src/wasm_utils/validation.rs`: validate_custom_section.

import { InvalidModule } from './invalid-module.ts';
import { customBytesMax, customSectionsMax } from './module-limits.ts';
import type { Sections } from './sections.ts';

export type Metadata = ReadonlyMap<
  string,
  { readonly isPublic: boolean; readonly content: Uint8Array }
>;

/**
 * A module with this section keeps the heap of the previous one: enhanced orthogonal persistence.
 * `dfinity/ic` `rs/execution_environment/src/execution/upgrade.rs`.
 */
export const persistenceSection = 'enhanced-orthogonal-persistence';

function invalid(why: string): InvalidModule {
  return new InvalidModule(`Wasm module has an invalid custom section. ${why}`);
}

/** Returns `undefined` for a section that the network does not use. */
function scopeOf(name: string): { readonly name: string; readonly isPublic: boolean } | undefined {
  if (!name.startsWith('icp:')) return undefined;
  for (const scope of ['icp:public', 'icp:private']) {
    if (name === scope) {
      throw invalid("'icp:' section names must have a space after the public/private scope");
    }
    if (!name.startsWith(`${scope} `)) continue;
    return { name: name.slice(scope.length + 1), isPublic: scope === 'icp:public' };
  }
  throw invalid(
    `Invalid custom section: Custom section '${name}' has no public/private scope defined.`,
  );
}

/** Throws InvalidModule. */
export function readMetadata(sections: Sections): Metadata {
  const metadata = new Map<string, { isPublic: boolean; content: Uint8Array }>();
  let bytes = 0;
  for (const { name: fullName, content } of sections.custom) {
    const scope = scopeOf(fullName);
    if (scope === undefined) continue;
    const { name, isPublic } = scope;
    if (metadata.has(name)) throw invalid(`Invalid custom section: name ${name} already exists`);
    bytes += content.length + Buffer.byteLength(name);
    if (bytes > customBytesMax) {
      throw invalid(
        'Invalid custom sections: total size of the custom sections exceeds the maximum allowed: ' +
          `size ${bytes} bytes, allowed ${customBytesMax} bytes`,
      );
    }
    metadata.set(name, { isPublic, content: content.slice() });
    if (metadata.size > customSectionsMax) {
      throw new InvalidModule(
        `Wasm module defined ${metadata.size} custom sections which exceeds the maximum number ` +
          `allowed ${customSectionsMax}.`,
      );
    }
  }
  return metadata;
}
