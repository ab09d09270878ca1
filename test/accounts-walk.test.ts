import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from './support/app.ts'

const PATIENCE = { timeout: 20_000 }
const email = 'ada@example.com'

test('whoever registers, and forgets their password, finds in their mails what they need', async () => {
  const shop = await createTestApp()
  onTestFinished(shop.close)
  const anybody = shop.as(null)
  const account = { email, password: 'a long engine poem', name: 'Ada' }
  expect((await anybody.post('/api/auth/register', account)).status).toBe(201)
  const mailOf = async (template: string) => {
    type Listed = { id: string; template: string }
    const find = async (): Promise<Listed | undefined> =>
      (await anybody.get(`/mails?to=${email}`)).json.items.find((each: Listed) => each.template === template)
    await expect.poll(find, PATIENCE).toBeDefined()
    return (await anybody.get(`/mails/${(await find())?.id}`)).json
  }
  const tokenIn = ({ body_text }: { body_text: string }) => /#token=([^\s]+)/.exec(body_text)?.[1] ?? ''
  expect((await mailOf('welcome')).headers).toHaveProperty('list-unsubscribe')
  const verified = await anybody.post('/api/auth/verify', { token: tokenIn(await mailOf('verify_email')) })
  expect(verified.status, verified.text).toBeLessThan(300)

  await anybody.post('/api/auth/forgot', { email })
  const token = tokenIn(await mailOf('reset_password'))
  const password = 'another long engine poem'
  const reset = await anybody.post('/api/auth/reset', { token, password })
  expect(reset.status, reset.text).toBeLessThan(300)
  expect((await anybody.post('/api/auth/login', { email, password })).status).toBe(200)
  expect((await mailOf('password_changed')).subject).toBe('Your password was changed')
})
