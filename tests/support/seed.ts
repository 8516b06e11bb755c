// Properties run with one seed, so that a run can be repeated; EFS_SEED=random looks further, and any
// other number repeats what failed. The seed of a failure is printed with it.

import fc from 'fast-check';

const { EFS_SEED = '20261120' } = process.env;

if (EFS_SEED !== 'random') {
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(EFS_SEED) });
}
