// Actor methods for the texts at `/.well-known/`.

import {
  listWellKnown,
  setWellKnown,
  type WellKnownChange,
} from '../../domain/administration/well-known.ts';
import {
  ResultNull,
  ResultWellKnown,
  WellKnownChange as WellKnownChangeType,
} from '../candid/types.ts';
import { query, update } from '../dispatch/method.ts';
import type { Optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { publishPages } from '../runtime/publication.ts';
import { stores } from '../runtime/runtime.ts';

interface WellKnownArgument {
  name: string;
  content: Optional<{ contentType: Optional<string>; body: string }>;
}

function changeOf({ name, content: [content] }: WellKnownArgument): WellKnownChange {
  if (content === undefined) return { name };
  return { name, content: { contentType: content.contentType[0], body: content.body } };
}

/** Well-known texts: texts at `/.well-known/`. */
export class WellKnownActor {
  /** Sets one of at most 16 texts; absent content removes the text. For controllers. */
  @update([WellKnownChangeType], ResultNull)
  setWellKnown(argument: WellKnownArgument) {
    return answer(() => {
      setWellKnown(stores, currentCall(), changeOf(argument));
      // A removed text may have replaced one of the canister's own
      publishPages(stores);
      return null;
    });
  }

  /** Lists all texts by name, for controllers. */
  @query([], ResultWellKnown)
  listWellKnown() {
    return answer(() => listWellKnown(stores, currentCall()));
  }
}
