/** Signals within this time count as one, because npm forwards a Ctrl-C that the terminal has also sent to this process. */
const REPEAT_MS_MIN = 500

/**
 * Stops gracefully on the first SIGTERM or SIGINT, with exit code 0. A second signal at least half a second later, or a stop
 * that takes longer than `msMax`, exits immediately with code 1. Returns a function that stops gracefully for another
 * reason, with the given exit code.
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
    // The same signal may have ended the reader of standard output. A failed write must not abort requests.
    process.stdout.on('error', () => {})
    say('Stopping: work in progress is finished first. A second signal stops immediately.')
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
