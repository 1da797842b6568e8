from befrl.api.comparison import Comparison as Comparison
from befrl.api.comparison import compare as compare
from befrl.api.files import read as read
from befrl.api.playing import run as run
from befrl.api.runs import Runs as Runs
from befrl.api.tuned import tune as tune
from befrl.api.tuned import tuned as tuned
from befrl.api.validation import instance as instance
from befrl.common.errors import InputError as InputError

__version__: str
