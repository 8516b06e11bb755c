// `efs serve mcp`: a server of the Model Context Protocol on standard input and output, for
// assistants. It has the rights of the profile and no more.

import type { Command } from 'commander';
import { runOf } from '../config/flags.ts';
import { parseLocation } from '../output/location.ts';

export interface McpFlags {
  readonly readOnly?: boolean;
}

/** Returns the version of the whole command. */
function versionOf(command: Command): string {
  return command.parent === null ? (command.version() ?? '') : versionOf(command.parent);
}

/** Runs until the client closes standard input, or until Ctrl-C. */
export async function serveMcp(
  command: Command,
  places: readonly string[],
  flags: McpFlags,
): Promise<void> {
  const run = runOf(command);
  const [storage, { openMcpServer }, { StdioServerTransport }] = await Promise.all([
    run.storage(),
    import('./mcp-server.ts'),
    import('@modelcontextprotocol/sdk/server/stdio.js'),
  ]);
  const server = openMcpServer({
    storage,
    places: places.map(parseLocation),
    isReadOnly: flags.readOnly === true,
    version: versionOf(command),
  });
  const transport = new StdioServerTransport();
  const closed = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
    process.stdin.once('end', resolve);
    run.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.connect(transport);
  await closed;
  await server.close();
}
