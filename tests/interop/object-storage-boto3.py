"""What an app does with boto3, given the variables of a workload; object-storage-clients.test.ts runs it."""
import io
import os
import urllib.error
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig

client = boto3.client(
    's3',
    endpoint_url=os.environ['PLATFORM_S3_ENDPOINT'],
    region_name=os.environ['PLATFORM_S3_REGION'],
    aws_access_key_id=os.environ['PLATFORM_S3_ACCESS_KEY_ID'],
    aws_secret_access_key=os.environ['PLATFORM_S3_SECRET_ACCESS_KEY'],
    aws_session_token=os.environ['PLATFORM_S3_SESSION_TOKEN'],
)
bucket = os.environ['PLATFORM_S3_BUCKET']
odd = 'boto3/one day é+&.txt'

client.put_object(Bucket=bucket, Key=odd, Body=b'hello', Metadata={'colour': 'blue'}, ACL='private')
got = client.get_object(Bucket=bucket, Key=odd)
assert (got['Body'].read(), got['Metadata']) == (b'hello', {'colour': 'blue'})
assert client.get_object(Bucket=bucket, Key=odd, Range='bytes=1-2')['Body'].read() == b'el'
assert client.head_object(Bucket=bucket, Key=odd)['ContentLength'] == 5
assert client.head_bucket(Bucket=bucket)['ResponseMetadata']['HTTPStatusCode'] == 200
client.get_bucket_location(Bucket=bucket)
client.copy({'Bucket': bucket, 'Key': odd}, bucket, 'boto3/copy')
parts = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20, max_concurrency=4)
large = os.urandom(6 << 20)
client.upload_fileobj(io.BytesIO(large), bucket, 'boto3/large', Config=parts)
back = io.BytesIO()
client.download_fileobj(bucket, 'boto3/large', back, Config=parts)
assert back.getvalue() == large
pages = client.get_paginator('list_objects_v2').paginate(Bucket=bucket, PaginationConfig={'PageSize': 1})
assert [one['Key'] for page in pages for one in page.get('Contents', [])] == ['boto3/copy', 'boto3/large', odd]
listed = client.list_objects(Bucket=bucket, Delimiter='/')
assert [one['Prefix'] for one in listed['CommonPrefixes']] == ['boto3/']
try:
    urllib.request.urlopen(client.generate_presigned_url('get_object', Params={'Bucket': bucket, 'Key': odd}))
    raise AssertionError('a presigned address was served')
except urllib.error.HTTPError as error:
    said = error.read().decode()
    assert error.code == 400 and 'x-amz-security-token' in said, said
keys = [{'Key': key} for key in (odd, 'boto3/copy', 'boto3/large')]
assert len(client.delete_objects(Bucket=bucket, Delete={'Objects': keys})['Deleted']) == 3
try:
    client.get_object(Bucket=bucket, Key=odd)
    raise AssertionError('a deleted object was served')
except client.exceptions.NoSuchKey:
    pass
print('done')
