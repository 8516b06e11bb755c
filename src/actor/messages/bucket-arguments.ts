// Arguments that describe buckets.

import type { NewBucket } from '../../domain/administration/bucket-creation.ts';
import type { EndToEndOptions } from '../../domain/buckets/end-to-end.ts';
import type { Optional } from './optional.ts';
import { type RuleArgument, rulesOf } from './retention-arguments.ts';

export interface BucketOptionsArgument {
  isPublic: Optional<boolean>;
  quotaBytes: Optional<bigint>;
  quotaFiles: Optional<bigint>;
  keepVersionsDays: Optional<bigint>;
  isSite: Optional<boolean>;
  isListed: Optional<boolean>;
  endToEnd: Optional<EndToEndArgument>;
  retention: Optional<RuleArgument[]>;
}

export interface EndToEndArgument {
  usesVetKeys: Optional<boolean>;
  sealsNames: Optional<boolean>;
  recipients: Optional<string[]>;
}

export function endToEndOptions([argument]: Optional<EndToEndArgument>):
  | EndToEndOptions
  | undefined {
  return (
    argument && {
      usesVetKeys: argument.usesVetKeys[0],
      sealsNames: argument.sealsNames[0],
      recipients: argument.recipients[0],
    }
  );
}

export function newBucketOf(bucket: string, [options]: Optional<BucketOptionsArgument>): NewBucket {
  return {
    bucket,
    isPublic: options?.isPublic[0],
    isSite: options?.isSite[0],
    isListed: options?.isListed[0],
    quotaBytes: options?.quotaBytes[0],
    quotaFiles: options?.quotaFiles[0],
    keepVersionsDays: options?.keepVersionsDays[0],
    endToEnd: options && endToEndOptions(options.endToEnd),
    retention: options && rulesOf(options.retention),
  };
}
