import { fakeCatalog } from '../../src/modules/catalog/fake.ts'
import { shippingModule } from '../../src/modules/shipping/index.ts'
import { useShop } from './use-shop.ts'

/** A process with the module shipping, for one test; what is sold is what the test says. */
export async function useShipping({
  databaseUrl,
  catalog = fakeCatalog()
}: {
  databaseUrl?: string
  catalog?: ReturnType<typeof fakeCatalog>
} = {}) {
  const shop = await useShop({ modules: [shippingModule], instead: { catalog }, databaseUrl })
  const admin = shop.as({ token: 'admin' })
  const made = async (path: string, body: object) => {
    const { status, json, text } = await admin.post(`/api/admin/shipping/${path}`, body)
    if (status !== 201) throw new Error(text)
    return json
  }
  /** What anybody is told about sending this. */
  const ask = (body: object) => shop.as(null).post('/api/shipping/rates', body)
  return { ...shop, catalog, admin, made, ask }
}
