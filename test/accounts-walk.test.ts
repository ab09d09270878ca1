import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from './support/app.ts'

const PATIENCE = { timeout: 60_000 }
const email = 'ada@example.com'

test('a customer registers and resets a forgotten password with the links of the two mails', async () => {
  const shop = await createTestApp()
  onTestFinished(shop.close)
  const anonymous = shop.as(null)
  const account = { email, password: 'a long engine poem', name: 'Ada' }
  expect((await anonymous.post('/api/auth/register', account)).status).toBe(201)
  const mailOf = async (template: string) => {
    type Listed = { id: string; template: string }
    const find = async (): Promise<Listed | undefined> =>
      (await anonymous.get(`/mails?to=${email}`)).json.items.find(
        (each: Listed) => each.template === template
      )
    await expect.poll(find, PATIENCE).toBeDefined()
    return (await anonymous.get(`/mails/${(await find())?.id}`)).json
  }
  const tokenIn = ({ body_text }: { body_text: string }) => /#token=([^\s]+)/.exec(body_text)?.[1] ?? ''
  expect((await mailOf('welcome')).headers).toHaveProperty('list-unsubscribe')
  const verified = await anonymous.post('/api/auth/verify', { token: tokenIn(await mailOf('verify_email')) })
  expect(verified.status, verified.text).toBeLessThan(300)

  await anonymous.post('/api/auth/forgot', { email })
  const token = tokenIn(await mailOf('reset_password'))
  const password = 'another long engine poem'
  const reset = await anonymous.post('/api/auth/reset', { token, password })
  expect(reset.status, reset.text).toBeLessThan(300)
  expect((await anonymous.post('/api/auth/login', { email, password })).status).toBe(200)
  expect((await mailOf('password_changed')).subject).toBe('Your password was changed')
})
