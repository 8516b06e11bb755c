// Sentences that the library, the command, the S3 server and the console print.

/**
 * Returns the sentences for a frozen canister on a local network, without the number of missing
 * cycles, which the network reports only for an update by a controller.
 */
export function frozenWords(canisterId: string): string {
  return (
    `The canister ${canisterId} is frozen: its cycles are below its freezing reserve, so it does ` +
    `not run. Top it up: icp canister top-up ${canisterId} --amount 1t ` +
    `(or dfx cycles top-up ${canisterId} 1T).`
  );
}
