import { totpCodeOfTimeStep, totpStepAt } from '../../src/modules/auth/second-factors/totp.ts'
import type { TestResponse } from '../../src/testing.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const PATH = '/api/auth/second-factor'

export function bytesOfBase32(text: string): Buffer {
  const bits = [...text].map(letter => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
}

/** What an app shows in its next step, which is accepted now and for another minute, however slow the machine is. */
export const nextCode = (secret: Buffer, steps = 1): string =>
  totpCodeOfTimeStep(secret, totpStepAt(Date.now()) + steps)

type Caller = { post: (path: string, body?: unknown) => Promise<TestResponse> }

/** Enrols a second factor with the code of the present step, so that `nextCode` is not used yet. */
export async function enrol(caller: Caller): Promise<{ secret: Buffer; recoveryCodes: string[] }> {
  const begun = await caller.post(PATH)
  const secret = bytesOfBase32(begun.json.secret)
  const confirmed = await caller.post(`${PATH}/confirm`, { code: nextCode(secret, 0) })
  if (confirmed.status !== 200) throw new Error(confirmed.text)
  return { secret, recoveryCodes: confirmed.json.recovery_codes }
}
