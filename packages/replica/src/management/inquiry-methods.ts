// Management methods without effects: a canister's logs, history and metadata.

import type { CanisterChange, Reject } from '../core.ts';
import { isSame } from './access.ts';
import type { Arguments } from './candid-types.ts';
import type { Done, Handlers, Parts } from './handlers.ts';
import { canisterNotFound, noMetadata } from './rejects.ts';
import { sourceValue } from './snapshot-values.ts';

type InquiryMethod = 'canister_info' | 'canister_metadata' | 'fetch_canister_logs';

/** `dfinity/ic` `rs/types/types/src/canister_log.rs`, MAX_FETCH_CANISTER_LOGS_RESULT_BYTES. */
const logBytesMax = 2_000_000;
/** Bytes that count for a record besides its content. */
export const recordBytes = 40;

export function inquiryMethods(parts: Parts): Handlers<InquiryMethod> {
  return {
    canister_info: (argument) => info(parts, argument),
    canister_metadata: ({ canister_id: id, name }, { caller }) => {
      const view = parts.lifecycle.canister(id);
      const section = view?.metadata.get(name);
      const isController = view?.controllers.some((one) => isSame(one, caller));
      if (!section || !(section.isPublic || isController)) return noMetadata(id, name);
      return { value: { value: section.content } };
    },
    fetch_canister_logs: (argument) => logs(parts, argument),
  };
}

function info(
  { lifecycle }: Parts,
  { canister_id: id, num_requested_changes: [wanted = 0n] }: Arguments['canister_info'],
): Done | Reject {
  const view = lifecycle.canister(id);
  if (view === undefined) return canisterNotFound(id);
  const { total, changes } = lifecycle.history(id);
  const first = wanted < changes.length ? changes.length - Number(wanted) : 0;
  return {
    value: {
      total_num_changes: total,
      recent_changes: changes.slice(first).map(changeValue),
      module_hash: view.moduleHash === undefined ? [] : [view.moduleHash],
      controllers: view.controllers,
    },
  };
}

function changeValue({ timestamp, canisterVersion, origin, details }: CanisterChange): object {
  const { caller, isCanister, canisterVersion: version } = origin;
  return {
    timestamp_nanos: timestamp,
    canister_version: canisterVersion,
    origin: isCanister
      ? {
          from_canister: {
            canister_id: caller,
            canister_version: version === undefined ? [] : [version],
          },
        }
      : { from_user: { user_id: caller } },
    details: detailsValue(details),
  };
}

function detailsValue(details: CanisterChange['details']): object {
  switch (details.kind) {
    case 'creation': {
      const { controllers, environmentHash: hash } = details;
      return { creation: { controllers, environment_variables_hash: hash ? [hash] : [] } };
    }
    case 'uninstall':
      return { code_uninstall: null };
    case 'deployment': {
      const { mode, moduleHash } = details;
      return { code_deployment: { mode: { [mode]: null }, module_hash: moduleHash } };
    }
    case 'controllers':
      return { controllers_change: { controllers: details.controllers } };
    case 'snapshot': {
      const { from, snapshotId, canisterVersion, takenAt, source } = details;
      return {
        load_snapshot: {
          from_canister_id: from ? [from] : [],
          snapshot_id: snapshotId,
          canister_version: canisterVersion,
          taken_at_timestamp: takenAt,
          source: sourceValue(source),
        },
      };
    }
  }
}

/**
 * Returns the newest matching records that fit. The network supports the filter; the specification
 * lacks it.
 */
function logs(
  { lifecycle }: Parts,
  { canister_id: id, filter: [filter] }: Arguments['fetch_canister_logs'],
): Done {
  const records = lifecycle.logs(id).filter(({ index, timestamp }) => {
    if (filter === undefined) return true;
    const [value, range] =
      'by_idx' in filter ? [index, filter.by_idx] : [timestamp, filter.by_timestamp_nanos];
    return range.start <= value && value < range.end;
  });
  let bytes = 0;
  let first = records.length;
  for (; first > 0; first -= 1) {
    bytes += recordBytes + (records[first - 1]?.content.length ?? 0);
    if (bytes > logBytesMax) break;
  }
  const values = records.slice(first).map(({ index, timestamp, content }) => {
    return { idx: index, timestamp_nanos: timestamp, content };
  });
  return { value: { canister_log_records: values } };
}
