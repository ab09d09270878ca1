#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// Compiled code is kept between starts: half of the time to the first answer. Everything else is loaded behind it.
enableCompileCache()
const { runCommand } = await import('./cli/commands.ts')
await runCommand(process.argv)
