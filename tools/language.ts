/**
 * Prints words that do not say who acts, and names of exported types that several files define:
 * `npm run language [path ...]`, of all files or of those below some paths. Exits with 1 when it prints any.
 */
import { repeatedTypes, riddlesBelow } from '../test/support/language.ts'

const paths = process.argv.slice(2)
const found = [...riddlesBelow('.'), ...repeatedTypes('.')].filter(
  line => paths.length === 0 || paths.some(path => line.includes(path))
)
for (const line of found) console.log(line)
if (found.length > 0) process.exitCode = 1
