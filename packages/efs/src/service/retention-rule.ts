// The flag --retain of `efs bucket`: a rule of the default retention.

import { InvalidArgumentError } from 'commander';
import type { RetentionRule } from '../../../client/src/types/retention.ts';

/** Parses `mode:days` or `mode:days:prefix`. */
export function collectRule(
  text: string,
  former?: readonly RetentionRule[] | false,
): readonly RetentionRule[] {
  const [, mode, days, prefix] = /^(governance|compliance):(\d{1,6})(?::(.*))?$/s.exec(text) ?? [];
  if (mode !== 'governance' && mode !== 'compliance') {
    throw new InvalidArgumentError(
      'Give mode:days or mode:days:prefix, such as compliance:365 or governance:30:logs/.',
    );
  }
  return [...(former || []), { mode, days: Number(days), prefix }];
}
