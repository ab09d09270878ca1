/** Signals within this time count as one, because npm forwards a Ctrl-C that the terminal has also sent to this process. */
const REPEAT_MS_MIN = 500
/** Longest stop of a process after its drain time. */
export const FORCED_EXIT_MS = 25_000

/** Stops the process and exits with this code. Only the first call has an effect. */
export type StopOnce = (exitCode: number) => void

/**
 * Returns a function that stops gracefully and exits with the given code. A stop that returns false, fails, or takes longer than
 * `msMax`, exits with code 1.
 */
export function createStopOnce(
  { msMax, say }: { msMax: () => number; say: (line: string) => void },
  stop: () => Promise<unknown>
): StopOnce {
  let isStopping = false
  return exitCode => {
    if (isStopping) return
    isStopping = true
    setTimeout(() => process.exit(1), msMax()).unref()
    // The same signal may have ended the reader of standard output. A failed write must not abort requests.
    process.stdout.on('error', () => {})
    say('Stopping: work in progress is finished first. A second signal stops immediately.')
    stop().then(
      isComplete => {
        say('Stopped.')
        process.exit(isComplete === false ? 1 : exitCode)
      },
      error => {
        process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
        process.exit(1)
      }
    )
  }
}

/**
 * Stops gracefully on the first SIGTERM or SIGINT, with exit code 0. A second signal at least half a second later exits
 * immediately with code 1.
 */
export function onStopSignal(stopOnce: StopOnce): void {
  let signaledAt: number | undefined
  const handle = () => {
    if (signaledAt !== undefined && performance.now() - signaledAt >= REPEAT_MS_MIN) process.exit(1)
    signaledAt ??= performance.now()
    stopOnce(0)
  }
  process.on('SIGTERM', handle)
  process.on('SIGINT', handle)
}
