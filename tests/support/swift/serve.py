"""OpenStack Swift with its s3api, which verifies signatures: proxy, account, container and object server in one process.

usage: serve.py <empty folder> <access key> <secret key> <region>

Prints the port of the proxy when it serves, and ends when its standard input does. Swift reads /etc/swift by itself, so
everything is given by hand here, as Swift's own tests do.
"""
import logging
import os
import sys

folder, access_key, secret_key, region = sys.argv[1:]
with open(f'{folder}/swift.conf', 'w') as file:
    file.write('[swift-hash]\nswift_hash_path_suffix = tests\n')

from swift.common import utils  # noqa: E402

utils.SWIFT_CONF_FILE = f'{folder}/swift.conf'
utils.eventlet_monkey_patch()

import eventlet  # noqa: E402
from eventlet import wsgi  # noqa: E402
from swift.common.http_protocol import SwiftHttpProtocol  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.wsgi import loadapp  # noqa: E402

logging.disable(logging.CRITICAL)

BACKEND = """
[DEFAULT]
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
disable_fallocate = true
[app:main]
use = egg:swift#{name}
"""

PROXY = """
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors listing_formats s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = {region}
auth_pipeline_check = false
[filter:tempauth]
use = egg:swift#tempauth
user_{account}_{user} = {secret_key} .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""


def app_of(name, template, **values):
    path = f'{folder}/{name}.conf'
    with open(path, 'w') as file:
        file.write(template.format(folder=folder, name=name, **values))
    return loadapp(path)


def serve(listener, app):
    eventlet.spawn(wsgi.server, listener, app, logging.getLogger(), protocol=SwiftHttpProtocol)


class NoCache:
    """Stands for memcached, which is asked for and need not know anything."""

    def get(self, *_, **__):
        return None

    def set(self, *_, **__):
        pass

    delete = set


def with_cache(app):
    def serve_with_cache(environ, start_response):
        environ['swift.cache'] = NoCache()
        return app(environ, start_response)

    return serve_with_cache


os.makedirs(f'{folder}/devices/disk')
for name in ('account', 'container', 'object'):
    listener = eventlet.listen(('127.0.0.1', 0))
    ring = RingBuilder(part_power=2, replicas=1, min_part_hours=0)
    port = listener.getsockname()[1]
    ring.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': port, 'device': 'disk', 'weight': 1.0})
    ring.rebalance()
    ring.get_ring().save(f'{folder}/{name}.ring.gz')
    serve(listener, app_of(name, BACKEND))
front = eventlet.listen(('127.0.0.1', 0))
account, user = access_key.split(':')
serve(front, with_cache(app_of('proxy', PROXY, account=account, user=user, secret_key=secret_key, region=region)))
print(front.getsockname()[1], flush=True)
eventlet.hubs.trampoline(sys.stdin.fileno(), read=True)
