/** As long as whoever asks for an element of a list behind its length may want. */
const ELEMENTS = 10

/** A text of an example. Each says whether it may be empty, so that nobody forgets to think of it. */
class ExampleText {
  readonly text: string
  readonly mayBeEmpty: boolean

  constructor(text: string, mayBeEmpty: boolean) {
    this.text = text
    this.mayBeEmpty = mayBeEmpty
  }
}
/** Something always stands there. */
export const always = (text: string): ExampleText => new ExampleText(text, false)
/** It may be empty, such as the name of somebody who has said none. */
export const orEmpty = (text: string): ExampleText => new ExampleText(text, true)

/** All that a template may name. */
export type Example = { readonly [name: string]: number | ExampleText | Example | readonly Example[] }

type Scope = Readonly<Record<string, unknown>>
/** What a mail may be about. */
export type Samples = {
  readonly example: Scope
  /** As little as it may be: what may be empty is, and lists have one element. */
  readonly least: Scope
  /** With lists that are long enough for those who ask how long they are. */
  readonly most: Scope
}

export const samplesOf = (example: Example): Samples => ({
  example: vary(
    example,
    ({ text }) => text,
    list => list
  ),
  least: vary(
    example,
    ({ text, mayBeEmpty }) => (mayBeEmpty ? '' : text),
    list => list.slice(0, 1)
  ),
  most: vary(
    example,
    ({ text }) => text,
    list =>
      Array.from({ length: ELEMENTS }, (_, at) => list[at % list.length]).filter(each => each !== undefined)
  )
})

/** The same as plain data, with this done to all texts and lists. */
const vary = (
  example: Example,
  text: (text: ExampleText) => string,
  list: (list: readonly Example[]) => readonly Example[]
): Scope =>
  Object.fromEntries(
    Object.entries(example).map(([name, value]) => {
      if (typeof value === 'number') return [name, value]
      if (value instanceof ExampleText) return [name, text(value)]
      if (Array.isArray(value))
        return [name, list(value as readonly Example[]).map(each => vary(each, text, list))]
      return [name, vary(value as Example, text, list)]
    })
  )
