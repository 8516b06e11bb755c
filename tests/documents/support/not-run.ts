// Every command in the pages that no test runs, and the reason. A test checks that all of them
// still exist; all other commands are run.

interface NotRun {
  /** The beginning of the command. */
  readonly command: string;
  readonly reason: string;
}

const freshClone = 'runs in a fresh clone; tests/service/start.thorough.test.ts starts the service';
const published = 'needs the published packages; tests/packages installs the packed packages';
const network =
  'makes, pays for or changes a canister: the local replica has no ledgers and no tools';
const tool = 'calls a tool that no package of the repository installs';
const joined =
  'needs a second canister; tests/certification/volume-of-front.test.ts calls the methods';
const several =
  'needs a service of several volumes; tests/client/service-command runs such commands';
const onEngine =
  'needs a cloud engine; tests/service/cloud-engine.thorough.test.ts calls rotateRootKey there';
const elsewhere = 'calls a third-party service on the network';

export const notRun: readonly NotRun[] = [
  { command: 'npm install && npm start', reason: freshClone },
  { command: 'npm install @encrypted-file-storage/client', reason: published },
  { command: 'npm install @encrypted-file-storage/elements', reason: published },
  { command: 'npm install -g @encrypted-file-storage/', reason: published },
  { command: 'npm ls @icp-sdk/core', reason: published },
  { command: 'npm install', reason: freshClone },
  { command: 'npm ci', reason: freshClone },
  { command: 'git clone <repository>', reason: 'needs the address of the repository' },
  { command: 'git checkout <commit>', reason: 'would change the sources under test' },
  { command: 'npm run build', reason: freshClone },
  {
    command: 'npx efs --host https://icp-api.io',
    reason: 'needs the network; tests/client/verify.test.ts asks the local replica',
  },
  {
    command: 'efs events papers',
    reason: 'runs until Ctrl-C; tests/client/journal-command.test.ts runs it',
  },
  {
    command: 'efs --profile backup ',
    reason: 'needs a second service; tests/client/mirror.thorough.test.ts mirrors to one and back',
  },
  { command: 'efs --profile new ', reason: 'as the one before' },
  { command: 'efs mirror papers --to backup:papers', reason: 'as the one before' },
  {
    command: 'efs mirror papers --to s3://copies/papers',
    reason: 'needs an S3 store; tests/client/mirror-s3.test.ts mirrors to one',
  },
  { command: 'export AWS_ACCESS_KEY_ID=…', reason: 'has no real credentials' },
  {
    command: 'aws s3 sync s3://copies/papers',
    reason: 'needs an S3 store; tests/clients/mirror-moto.test.ts restores from one',
  },
  {
    command: 'efs profile add backup ',
    reason: 'needs a second service; tests/client/profiles.test.ts adds profiles',
  },
  { command: 'local-replica --help', reason: published },
  { command: 'for package in build/packages/', reason: 'publishes' },
  { command: 'icp --version', reason: tool },
  { command: 'icp identity ', reason: tool },
  { command: 'icp cycles ', reason: network },
  { command: 'icp network ', reason: network },
  { command: 'icp deploy', reason: network },
  { command: 'icp canister settings ', reason: network },
  { command: 'icp canister call front addVolume ', reason: joined },
  { command: 'icp canister call file_storage setFront ', reason: joined },
  {
    command: 'efs --host https://icp-api.io --identity me.pem service deploy ',
    reason: 'pays for canisters; tests/client/service-set-up runs it on a local replica',
  },
  { command: 'efs --host https://icp-api.io --front ', reason: several },
  { command: 'efs --canister-id <canister id> rotate root ', reason: onEngine },
  {
    command: 'efs volume create file_storage.wasm.gz --canister ',
    reason: 'needs a cloud engine; tests/client/engine-set-up.thorough.test.ts runs it there',
  },
  { command: 'efs top-up ', reason: several },
  { command: 'efs service ', reason: several },
  { command: 'efs profile add files --host ', reason: several },
  { command: 'efs bucket create pictures', reason: several },
  { command: 'efs sync Pictures pictures/', reason: several },
  { command: 'icp canister status ', reason: network },
  { command: 'icp canister stop ', reason: network },
  { command: 'icp canister start ', reason: network },
  { command: 'icp canister snapshot ', reason: network },
  { command: 'dfx ', reason: tool },
  { command: 'curl -sL https://icp.net/custom-domains/', reason: elsewhere },
  { command: 'curl -sL -X POST https://icp.net/custom-domains/', reason: elsewhere },
  {
    command: 'efs serve s3 --listen',
    reason: 'never ends: tests/s3/command.thorough.test.ts starts it',
  },
  {
    command: 'efs --profile files serve metrics',
    reason: 'never ends: tests/client/serve-metrics.thorough.test.ts starts it',
  },
  {
    command: "curl -H 'Accept: text/plain' http://127.0.0.1:9900/metrics",
    reason: 'reads that server; tests/client/serve-metrics.thorough.test.ts sends the request',
  },
  { command: 'aws ', reason: tool },
  { command: 'rclone ', reason: tool },
  { command: 'restic ', reason: tool },
  { command: 's3fs ', reason: tool },
  { command: 'cp letter.pdf demo/', reason: 'writes to a folder that s3fs has mounted' },
  { command: 'ls demo', reason: 'reads a folder that s3fs has mounted' },
  { command: 'fusermount ', reason: tool },
];
