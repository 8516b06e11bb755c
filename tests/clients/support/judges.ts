// The judges, each a file of this folder: which programs it needs, and which are asked for.
//   EFS_CLIENTS  their names with commas between, such as wget,curl; all unless told

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Program and the package of Debian that has it. */
const packages = {
  wget: 'wget',
  curl: 'curl',
  aria2c: 'aria2',
  ffmpeg: 'ffmpeg',
  git: 'git',
  'git-lfs': 'git-lfs',
  rclone: 'rclone',
  chromium: 'chromium',
  age: 'age',
  'age-keygen': 'age',
  aws: 'awscli',
  restic: 'restic',
  s3cmd: 's3cmd',
  s3fs: 's3fs',
  python3: 'python3-boto3',
} as const;

type Program = keyof typeof packages;

const programsOf: Readonly<Record<string, readonly Program[]>> = {
  wget: ['wget'],
  curl: ['curl'],
  aria2: ['aria2c'],
  ffmpeg: ['ffmpeg'],
  'git-lfs': ['git', 'git-lfs'],
  rclone: ['rclone'],
  age: ['age', 'age-keygen'],
  'age-curl': ['age', 'age-keygen', 'curl'],
  'chromium-download': ['chromium'],
  'chromium-agent': ['chromium'],
  'chromium-page': ['chromium', 'ffmpeg'],
  'chromium-site': ['chromium'],
  's3-aws': ['aws'],
  's3-rclone': ['rclone'],
  's3-restic': ['restic'],
  's3-s3cmd': ['s3cmd'],
  's3-boto3': ['python3'],
  's3-s3fs': ['s3fs'],
  's3-kills': ['aws', 'rclone'],
  's3-pages': ['aws', 'rclone', 'restic', 's3fs', 'python3'],
};

/** Throws an Error if one is asked for that there is not. */
export function judgesAsked(): readonly string[] {
  const { EFS_CLIENTS = 'all' } = process.env;
  const all = Object.keys(programsOf);
  if (EFS_CLIENTS === 'all') return all;
  const asked = EFS_CLIENTS.split(',').map((name) => name.trim());
  const unknown = asked.filter((name) => !all.includes(name));
  if (unknown.length === 0) return asked;
  throw new Error(`EFS_CLIENTS takes all or some of ${all.join(', ')}; got ${unknown.join(', ')}.`);
}

/** Before the tests: throws an Error that says what is missing, and how to get it. */
export default function requirePrograms(): void {
  const needed = new Set(judgesAsked().flatMap((judge) => programsOf[judge] ?? []));
  const missing = [...needed].filter((program) => findProgram(program) === undefined);
  if (missing.length === 0) return;
  const lines = missing.map(
    (program) => `${program}: not installed, apt-get install ${packages[program]}`,
  );
  throw new Error(`${lines.join('\n')}\nOr choose others by EFS_CLIENTS=wget,curl`);
}

/** Where it is, by the PATH; undefined if it is not. */
export function findProgram(program: Program): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
