from befrl.api import Comparison as Comparison
from befrl.api import InputError as InputError
from befrl.api import Runs as Runs
from befrl.api import compare as compare
from befrl.api import instance as instance
from befrl.api import read as read
from befrl.api import run as run

__version__: str
