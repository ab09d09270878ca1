import type { Statement } from '../statement.ts'
import type { BatchedStatement, StatementResult } from '../wire/batch-query.ts'
import { type PostgresWireValue, prepareValue } from '../wire/client-query.ts'

type Question = Pick<Statement, 'name' | 'text' | 'isForEach'>
type Waiting = Pick<BatchedStatement, 'resolve' | 'reject'>
/** All executions of one statement, by several participants. */
type Step = { readonly name: string; readonly asked: BatchedStatement[]; next: Step | undefined }

/**
 * Collects the statements of one turn of the event loop in the order in which they are sent. Statements of one participant
 * keep their order. Equal statements of several participants are adjacent, and a `forEach` statement is executed once for
 * the rows of all. `onStatement` is called with the name of each statement that is sent.
 */
export function createStatementBatch(onStatement: (name: string) => void) {
  const start: Step = { name: '', asked: [], next: undefined }
  /** The last command; statements are inserted behind it. */
  let command = start
  /** The step of each participant's latest statement. */
  const lastOf = new Map<object, Step>()

  function stepOf(asker: object, name: string): Step {
    const last = lastOf.get(asker) ?? command
    let step = last.next
    while (step !== undefined && step.name !== name) step = step.next
    if (step === undefined) {
      step = { name, asked: [], next: last.next }
      last.next = step
    }
    lastOf.set(asker, step)
    return step
  }

  return {
    isEmpty: (): boolean => start.next === undefined,
    statements: (): BatchedStatement[] => {
      const all: BatchedStatement[] = []
      for (let step = start.next; step !== undefined; step = step.next) all.push(...step.asked)
      return all
    },
    /** Adds a command behind everything added so far. */
    command: (text: string, name = text, values: readonly unknown[] = []): Promise<StatementResult> =>
      new Promise((resolve, reject) => {
        const asked = { name, text, values: values.map(value => prepareValue(value)), resolve, reject }
        while (command.next !== undefined) command = command.next
        command.next = { name, asked: [asked], next: undefined }
        command = command.next
      }),
    ask: (
      asker: object,
      { name, text, isForEach }: Question,
      values: readonly unknown[]
    ): Promise<StatementResult> =>
      new Promise((resolve, reject) => {
        const { asked } = stepOf(asker, name)
        const [first] = asked
        if (first instanceof ForEach) first.add(values[0] as string, { resolve, reject })
        else {
          onStatement(name)
          if (isForEach) asked.push(new ForEach(name, text, values[0] as string, { resolve, reject }))
          else asked.push({ name, text, values: values.map(value => prepareValue(value)), resolve, reject })
        }
      })
  }
}

/** One statement for the rows of several participants; each gets the result rows with its row number. */
class ForEach implements BatchedStatement {
  readonly name: string
  readonly text: string
  readonly #rows: string[] = []
  readonly #waiting: Waiting[] = []

  /** `rows`: the JSON text of an array with exactly one row, such as `[{"id": 1}]`. */
  constructor(name: string, text: string, rows: string, waiting: Waiting) {
    this.name = name
    this.text = text
    this.add(rows, waiting)
  }

  add(rows: string, waiting: Waiting): void {
    this.#rows.push(rows.slice(1, -1))
    this.#waiting.push(waiting)
  }

  get values(): PostgresWireValue[] {
    return [`[${this.#rows.join(',')}]`]
  }

  resolve({ rows, command }: StatementResult): void {
    const rowsOf = Map.groupBy(rows, ({ at }) => at)
    for (const [index, { resolve }] of this.#waiting.entries()) {
      const its = rowsOf.get(index + 1) ?? []
      resolve({ rows: its, rowCount: its.length, command })
    }
  }

  reject(error: unknown): void {
    for (const { reject } of this.#waiting) reject(error)
  }
}
