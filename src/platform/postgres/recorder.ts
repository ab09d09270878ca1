import { AsyncLocalStorage } from 'node:async_hooks'

type Recorded<T> = {
  result: T
  /** The names of the statements that `work` sent. Those of requests over a socket are missing. */
  statements: string[]
  /**
   * Names of statements that jobs and timers sent meanwhile. Which ones depends on the speed of the machine, so tests ignore
   * them.
   */
  background: string[]
}

export type RecordStatements = <T>(
  work: () => Promise<T>,
  onStatement?: (name: string) => void
) => Promise<Recorded<T>>

/** Records statements by the asynchronous context in which they are sent. */
export function createStatementRecorder() {
  const sender = new AsyncLocalStorage<(name: string) => void>()
  const background: string[] = []
  return {
    onStatement: (name: string) => sender.getStore()?.(name),
    inBackground: <T>(work: () => Promise<T>) => sender.run(name => background.push(name), work),
    record: async <T>(
      work: () => Promise<T>,
      onStatement: (name: string) => void = () => {}
    ): Promise<Recorded<T>> => {
      const statements: string[] = []
      const before = background.length
      const note = (name: string) => {
        statements.push(name)
        onStatement(name)
      }
      const result = await sender.run(note, work)
      return { result, statements: [...statements], background: background.slice(before) }
    }
  }
}
