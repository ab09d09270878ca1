/** Length of lists in the maximal sample. Templates that read `list[n]` behind a check of the size need that many. */
const LONG_LIST_LENGTH = 10

/** A text variable of an example. The type forces a decision on whether it may be empty. */
class ExampleText {
  readonly text: string
  readonly mayBeEmpty: boolean

  constructor(text: string, mayBeEmpty: boolean) {
    this.text = text
    this.mayBeEmpty = mayBeEmpty
  }
}
/** An example value of a text variable that is never empty. */
export const nonEmptyExampleText = (text: string): ExampleText => new ExampleText(text, false)
/** A text that may be empty, such as the name of a customer who gave none. */
export const possiblyEmptyExampleText = (text: string): ExampleText => new ExampleText(text, true)

/** Every variable that a template can use, with an example value. */
export type MailTemplateExample = {
  readonly [name: string]: number | ExampleText | MailTemplateExample | readonly MailTemplateExample[]
}

type Variables = Readonly<Record<string, unknown>>
/** Variables with which a template is checked. */
export type MailTemplateSamples = {
  readonly example: Variables
  /** Texts that may be empty are empty, and lists have one element. */
  readonly minimal: Variables
  /** Lists have ten elements. */
  readonly maximal: Variables
}

export const createMailTemplateSamples = (example: MailTemplateExample): MailTemplateSamples => ({
  example: vary(
    example,
    ({ text }) => text,
    list => list
  ),
  minimal: vary(
    example,
    ({ text, mayBeEmpty }) => (mayBeEmpty ? '' : text),
    list => list.slice(0, 1)
  ),
  maximal: vary(
    example,
    ({ text }) => text,
    list =>
      Array.from({ length: LONG_LIST_LENGTH }, (_, at) => list[at % list.length]).filter(
        each => each !== undefined
      )
  )
})

/** Returns the example as plain data, with every text and list mapped by the given functions. */
const vary = (
  example: MailTemplateExample,
  text: (text: ExampleText) => string,
  list: (list: readonly MailTemplateExample[]) => readonly MailTemplateExample[]
): Variables =>
  Object.fromEntries(
    Object.entries(example).map(([name, value]) => {
      if (typeof value === 'number') return [name, value]
      if (value instanceof ExampleText) return [name, text(value)]
      if (Array.isArray(value))
        return [name, list(value as readonly MailTemplateExample[]).map(each => vary(each, text, list))]
      return [name, vary(value as MailTemplateExample, text, list)]
    })
  )
