/** Two signals closer together than this count as one: npm passes on a Ctrl-C that the terminal has sent to all already. */
const REPEAT_MS_MIN = 500

/**
 * The first SIGTERM or SIGINT stops in order, and exit code 0 says that it did. Another one, half a second later or
 * more, or `msMax`, ends the process with exit code 1. Returns a way to stop in order for another reason, with an
 * exit code for it.
 */
export function onStopSignal(
  { msMax, say }: { msMax: number; say: (line: string) => void },
  stop: () => Promise<void>
): (exitCode: number) => void {
  let stoppingSince: number | undefined
  const stopOnce = (exitCode: number) => {
    if (stoppingSince !== undefined) return
    stoppingSince = performance.now()
    setTimeout(() => process.exit(1), msMax).unref()
    // Whoever read our output may have ended by the same signal; that must not end a request.
    process.stdout.on('error', () => {})
    say('Stopping: what is under way is finished first. A second signal stops at once.')
    stop().then(
      () => {
        say('Stopped.')
        process.exit(exitCode)
      },
      error => {
        process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
        process.exit(1)
      }
    )
  }
  const handle = () => {
    if (stoppingSince === undefined) stopOnce(0)
    else if (performance.now() - stoppingSince >= REPEAT_MS_MIN) process.exit(1)
  }
  process.on('SIGTERM', handle)
  process.on('SIGINT', handle)
  return stopOnce
}
