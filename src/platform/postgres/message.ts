import { type Prepared, prepareValue } from './client-query.ts'
import type { Answer, Asked } from './joint-query.ts'
import type { Statement } from './statement.ts'

type Question = Pick<Statement, 'name' | 'text' | 'isForEach'>
type Waiting = Pick<Asked, 'resolve' | 'reject'>
/** All that is asked for under one name, by many. */
type Step = { readonly name: string; readonly asked: Asked[]; next: Step | undefined }

/**
 * What is asked for in one turn of the event loop, in the order in which it is sent. What one asks for keeps its order. Of many who
 * ask, those who ask for the same stand together, and a statement for each row is one for all of their rows. `onStatement` is called
 * with the name of each that is sent.
 */
export function createMessage(onStatement: (name: string) => void) {
  const start: Step = { name: '', asked: [], next: undefined }
  /** Behind this comes whatever is asked for. */
  let command = start
  /** The step of what each asked for last. */
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
    statements: (): Asked[] => {
      const all: Asked[] = []
      for (let step = start.next; step !== undefined; step = step.next) all.push(...step.asked)
      return all
    },
    /** Sends it behind all that has been asked for. */
    command: (text: string, name = text, values: readonly unknown[] = []): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const asked = { name, text, values: values.map(value => prepareValue(value)), resolve, reject }
        while (command.next !== undefined) command = command.next
        command.next = { name, asked: [asked], next: undefined }
        command = command.next
      }),
    ask: (asker: object, { name, text, isForEach }: Question, values: readonly unknown[]): Promise<Answer> =>
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

/** One statement for the rows of many, who get the answers with the numbers of their rows. */
class ForEach implements Asked {
  readonly name: string
  readonly text: string
  readonly #rows: string[] = []
  readonly #waiting: Waiting[] = []

  /** `rows`: a row, as a list in JSON. */
  constructor(name: string, text: string, rows: string, waiting: Waiting) {
    this.name = name
    this.text = text
    this.add(rows, waiting)
  }

  add(rows: string, waiting: Waiting): void {
    this.#rows.push(rows.slice(1, -1))
    this.#waiting.push(waiting)
  }

  get values(): Prepared[] {
    return [`[${this.#rows.join(',')}]`]
  }

  resolve({ rows, command }: Answer): void {
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
