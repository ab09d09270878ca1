/** What was found out about a part of an installation. */
export type Finding = {
  readonly state: 'ok' | 'warning' | 'wrong'
  readonly detail: string
  /** What the operator can do about it. */
  readonly advice?: string
}

/** One question about an installation. What it throws is something wrong, too. */
export type Diagnosis = {
  /** What it is about, in a word or two. */
  readonly about: string
  find(): Promise<Finding> | Finding
}

export const ok = (detail: string): Finding => ({ state: 'ok', detail })
export const warning = (detail: string, advice: string): Finding => ({ state: 'warning', detail, advice })
export const wrong = (detail: string, advice: string): Finding => ({ state: 'wrong', detail, advice })
