/** The result of one check of an installation. */
export type DiagnosisFinding = {
  readonly state: 'ok' | 'warning' | 'wrong'
  readonly detail: string
  /** What the operator can do about the finding. */
  readonly advice?: string
}

/** One check of an installation. An error that `find` throws is reported as `wrong`. */
export type DiagnosisCheck = {
  /** The subject of the check, in a word or two. */
  readonly about: string
  find(): Promise<DiagnosisFinding> | DiagnosisFinding
}

export const okDiagnosisFinding = (detail: string): DiagnosisFinding => ({ state: 'ok', detail })
export const warningDiagnosisFinding = (detail: string, advice: string): DiagnosisFinding => ({
  state: 'warning',
  detail,
  advice
})
export const errorDiagnosisFinding = (detail: string, advice: string): DiagnosisFinding => ({
  state: 'wrong',
  detail,
  advice
})
