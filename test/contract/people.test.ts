import { describeContract } from './describe-contract.ts'

describeContract('admin', 'auth', 'notifications', 'webhooks')
