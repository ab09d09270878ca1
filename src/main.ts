#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Compiled code is kept between starts: half of the time to the first answer. Everything else is loaded behind it.
// Not in /tmp, where Node would keep it: another user of the machine could put code there that would then be ours.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))
const { runCommand } = await import('./cli/commands.ts')
await runCommand(process.argv)
